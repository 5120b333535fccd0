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
	"github.com/larder-data/larder/internal/values/deepequal"
	"github.com/larder-data/larder/source"
)

// Arguments belong to the function: each call gets copies. A value that cannot
// be copied, as no codec can write it, is lent, and its memory summed up before
// and after: if it was written to, nothing that was made of it meanwhile is
// kept. A function that captures variables, such as an iterator, hides what calls
// of it change, and what has locks inside cannot be looked at while others write: only
// what was made by the first to whom it was lent is kept. What a function returns may
// be memory of what it was lent, so it is copied, or looked at, before that is compared.

// copier returns a function that copies a T, so that two users of it cannot
// disturb each other; it reports false for what cannot be copied.
func copier[T any]() func(any) (any, bool) {
	if k := reflect.TypeFor[T]().Kind(); k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String {
		return itself // at once, as most constants are such
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

// mayBeLent reports whether there are values of a type that cannot be copied.
func mayBeLent[T any]() bool {
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

// lendable remembers of types what mayBeLent found.
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

// copyAny copies a value whose type is not known here.
func copyAny(v any) (any, bool) { return copier[any]()(v) }

// lent is what is known of a value that cannot be copied.
type lent struct {
	once  sync.Once
	sum   deepequal.Sum
	sight deepequal.Sight
	users atomic.Int64 // to whom it was lent
}

// look sums up the memory of a value for the first time.
func (l *lent) look(v any) {
	l.once.Do(func() { l.sum, l.sight = deepequal.SumOf(v) })
}

// lending is what is known of a value once it was lent.
type lending struct{ atomic.Pointer[lent] }

// see looks at a value as it is before anybody gets it.
func (l *lending) see(v any) *lent {
	if l.Load() == nil {
		l.CompareAndSwap(nil, &lent{})
	}
	loan := l.Load()
	loan.look(v)
	return loan
}

// lend looks at a value before it is lent to one more, by whatever name that has it: of
// what cannot be watched all are counted that have it.
func (v *evaluator) lend(l *lending, value any) *lent {
	loan := l.see(value)
	if loan.sight != deepequal.Seen {
		switch r := reflect.ValueOf(value); r.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func:
			at := r.UnsafePointer()
			if r.Kind() == reflect.Func {
				at = (*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1] // with what it captures
			}
			same, _ := v.loans.LoadOrStore(at, loan)
			loan = same.(*lent)
		}
	}
	loan.users.Add(1)
	return loan
}

// own returns a result that is no memory of what the function was lent, or was looked
// at before that is compared.
func (t *task) own(value any, loans []*lent) any {
	f := t.node.fn
	if f.kept.keepable() == nil {
		if !slices.ContainsFunc(loans, func(l *lent) bool { return l != nil }) {
			return value
		}
		if own, ok := f.kept.copy(value); ok {
			return own
		}
	}
	t.lent.see(value)
	return value
}

// changed reports whether the value was written to since it was first looked
// at.
func (l *lent) changed(v any) bool {
	sum, _ := deepequal.SumOf(v)
	return sum != l.sum
}

// argument returns the i-th argument of a task for its function: a copy, or
// else what it was lent.
func (v *evaluator) argument(t *task, i int) (arg any, loan *lent) {
	n := t.node.args[i]
	if a := t.args[i]; a != nil {
		arg, ok := n.fn.kept.copy(a.value)
		if ok {
			return arg, nil
		}
		return arg, v.lend(&a.lent, a.value)
	}
	arg, ok := n.copy(n.value)
	if ok {
		return arg, nil
	}
	return arg, v.lend(&n.action.Load().lent, n.value)
}

// giveBack looks at what a function was lent, after it has run.
func (v *evaluator) giveBack(ctx context.Context, t *task, args []any, loans []*lent) {
	for i, loan := range loans {
		why := ""
		switch {
		case loan == nil:
		case loan.sight == deepequal.Shared && source.Covers(t.node.fn.options.Pure, reflect.TypeOf(args[i])):
		case loan.sight == deepequal.Shared && loan.users.Load() > 1:
			why = "can neither be copied nor watched, as it has locks or channels inside, and others use it, too: declare its type as Pure if none changes what others see of it, or make it in the function that uses it"
		case loan.sight == deepequal.Shared:
		case loan.sight == deepequal.Hidden && loan.users.Load() > 1:
			why = "can neither be copied nor watched, as it has a function with variables inside, and others use it, too: return data, or call in one function what makes it and what uses it"
		case loan.changed(args[i]):
			why = "was written to meanwhile, and cannot be copied: copy what the function changes, or return a type that package codec can write"
		}
		if why != "" {
			larder.Unkeep(ctx, fmt.Errorf("lazy: %s: argument %d, a %T, %s", t.node.fn.name, i, args[i], why))
		}
	}
}
