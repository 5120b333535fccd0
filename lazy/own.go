package lazy

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/values/deepequal"
)

// A function owns its arguments: each call gets copies. A value that cannot be copied,
// because no codec can encode it, is borrowed. Its memory is summed up before and after
// a call. If it was written to, results computed from it in between are not cached.
//
// Some borrowed values cannot be watched. A function that captures variables, such as
// an iterator, hides what its calls change. A value with locks inside cannot be read
// while others write. Only results of the first borrower of such a value are cached.
//
// A result may share memory with a borrowed argument. So it is copied, or summed up,
// before the argument is compared.

// copier returns a function that copies a T, so that two users of it cannot affect each
// other. That function returns false for a value that cannot be copied.
func copier[T any]() func(any) (any, bool) {
	if k := reflect.TypeFor[T]().Kind(); k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String {
		return itself // the fast path for most constants
	}
	c, err := codec.For[T]()
	if err != nil {
		return func(v any) (any, bool) { return v, v == nil }
	}
	if c.Plain {
		return itself
	}
	return func(v any) (any, bool) {
		t, _ := v.(T)
		b, err := c.Encode(nil, t)
		if err != nil {
			return v, false
		}
		own, err := c.Decode(b)
		if err != nil {
			return v, false
		}
		return own, true
	}
}

func itself(v any) (any, bool) { return v, true }

// mayBeBorrowed reports whether a type has values that cannot be copied.
func mayBeBorrowed[T any]() bool {
	t := reflect.TypeFor[T]()
	if k := t.Kind(); k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String {
		return false
	}
	if known, ok := lendable.Load(t); ok {
		return known.(bool)
	}
	_, err := codec.For[T]()
	may := err != nil || hasInterface(t, map[reflect.Type]bool{})
	lendable.Store(t, may)
	return may
}

// lendable caches the results of mayBeBorrowed.
var lendable sync.Map // of bool, by reflect.Type

func hasInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hasInterface(t.Elem(), seen)
	case reflect.Map:
		return hasInterface(t.Key(), seen) || hasInterface(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if hasInterface(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// copyAny copies a value of unknown type.
func copyAny(v any) (any, bool) { return copier[any]()(v) }

// borrowed is the state of a value that cannot be copied.
type borrowed struct {
	once  sync.Once
	sum   deepequal.Sum
	sight deepequal.Sight
	users atomic.Int64 // number of borrowers
}

// look sums up the memory of a value for the first time.
func (l *borrowed) look(v any) {
	l.once.Do(func() { l.sum, l.sight = deepequal.SumOf(v) })
}

// lending holds the state of a value once it is borrowed.
type lending struct{ atomic.Pointer[borrowed] }

// see sums up a value before any function gets it.
func (l *lending) see(v any) *borrowed {
	if l.Load() == nil {
		l.CompareAndSwap(nil, &borrowed{})
	}
	loan := l.Load()
	loan.look(v)
	return loan
}

// lend sums up a value before another function borrows it. For a value that cannot be
// watched it counts the borrowers under all keys of the value.
func (v *evaluator) lend(l *lending, value any) *borrowed {
	loan := l.see(value)
	if loan.sight != deepequal.Seen {
		switch r := reflect.ValueOf(value); r.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func:
			at := r.UnsafePointer()
			if r.Kind() == reflect.Func {
				at = (*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1] // with the captured variables
			}
			same, _ := v.loans.LoadOrStore(at, loan)
			loan = same.(*borrowed)
		}
	}
	loan.users.Add(1)
	return loan
}

// own returns a result that shares no memory with borrowed arguments, or sums it up before
// these are compared.
func (t *task) own(value any, loans []*borrowed) any {
	f := t.node.fn
	if f.cached.keepable() == nil {
		if !slices.ContainsFunc(loans, func(l *borrowed) bool { return l != nil }) {
			return value
		}
		if own, ok := f.cached.copy(value); ok {
			return own
		}
	}
	t.borrowed.see(value)
	return value
}

// changed reports whether the value was written to since it was first summed up.
func (l *borrowed) changed(v any) bool {
	sum, _ := deepequal.SumOf(v)
	return sum != l.sum
}

// argument returns the i-th argument of a task for its function: a copy, or else the
// borrowed value.
func (v *evaluator) argument(t *task, i int) (arg any, loan *borrowed) {
	n := t.node.args[i]
	if a := t.args[i]; a != nil {
		arg, ok := n.fn.cached.copy(a.value)
		if ok {
			return arg, nil
		}
		return arg, v.lend(&a.borrowed, a.value)
	}
	arg, ok := n.copy(n.value)
	if ok {
		return arg, nil
	}
	return arg, v.lend(&n.action.Load().borrowed, n.value)
}

// giveBack checks the borrowed arguments after a function has run.
func (v *evaluator) giveBack(ctx context.Context, t *task, args []any, loans []*borrowed) {
	for i, loan := range loans {
		why := ""
		switch {
		case loan == nil:
		case loan.sight == deepequal.Shared && analysis.Covers(t.node.fn.options.Pure, reflect.TypeOf(args[i])):
		case loan.sight == deepequal.Shared && loan.users.Load() > 1:
			why = "contains locks or channels, so it cannot be copied or watched, and other functions use it; declare its type as Pure if no function changes it, or create it in the function that uses it"
		case loan.sight == deepequal.Shared:
		case loan.sight == deepequal.Hidden && loan.users.Load() > 1:
			why = "contains a function with captured variables, so it cannot be copied or watched, and other functions use it; return data, or create and use it in one function"
		case loan.changed(args[i]):
			why = "was changed during the call, and cannot be copied; copy what the function changes, or return a type that package codec can write"
		}
		if why != "" {
			larder.NoStore(ctx, fmt.Errorf("lazy: %s: argument %d, a %T, %s", t.node.fn.name, i, args[i], why))
		}
	}
}
