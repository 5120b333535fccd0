package lazy

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/identical"
)

// Arguments belong to the function: each call gets copies. A value that cannot
// be copied, as no codec can write it, is lent, and its memory summed up before
// and after: if it was written to, nothing that was made of it meanwhile is
// kept. A function that captures variables, such as an iterator, hides what calls
// of it change: only what was made by the first to whom it was lent is kept.

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

// copyAny copies a value whose type is not known here.
func copyAny(v any) (any, bool) { return copier[any]()(v) }

// lent is what is known of a value that cannot be copied.
type lent struct {
	once  sync.Once
	sum   identical.Sum
	sight identical.Sight
	users atomic.Int64 // to whom it was lent
}

// look sums up the memory of a value for the first time.
func (l *lent) look(v any) {
	l.once.Do(func() { l.sum, l.sight = identical.SumOf(v) })
}

// lending is what is known of a value once it was lent.
type lending struct{ atomic.Pointer[lent] }

// lend looks at a value before it is lent to one more.
func (l *lending) lend(v any) *lent {
	if l.Load() == nil {
		l.CompareAndSwap(nil, &lent{})
	}
	loan := l.Load()
	loan.look(v)
	loan.users.Add(1)
	return loan
}

// changed reports whether the value was written to since it was first looked
// at.
func (l *lent) changed(v any) bool {
	sum, _ := identical.SumOf(v)
	return sum != l.sum
}

// argument returns the i-th argument of a task for its function: a copy, or
// else what it was lent.
func (t *task) argument(i int) (arg any, loan *lent) {
	n := t.node.args[i]
	if a := t.args[i]; a != nil {
		arg, ok := n.fn.kept.copy(a.value)
		if ok {
			return arg, nil
		}
		return arg, a.lent.lend(a.value)
	}
	arg, ok := n.copy(n.value)
	if ok {
		return arg, nil
	}
	return arg, n.action.Load().lent.lend(n.value)
}

// giveBack looks at what a function was lent, after it has run.
func (v *evaluator) giveBack(ctx context.Context, t *task, args []any, loans []*lent) {
	for i, loan := range loans {
		why := ""
		switch {
		case loan == nil:
		case loan.sight == identical.Shared:
			t.node.fn.shares.Do(func() {
				v.larder.Logger().Warn("lazy: an argument can neither be copied nor watched, as it has locks or channels inside: functions share it, and none may change what others see of it",
					"function", t.node.fn.name, "argument", i, "type", fmt.Sprintf("%T", args[i]))
			})
		case loan.sight == identical.Hidden && loan.users.Load() > 1:
			why = "can neither be copied nor watched, as it has a function with variables inside, and others use it, too: return data, or call in one function what makes it and what uses it"
		case loan.changed(args[i]):
			why = "was written to meanwhile, and cannot be copied: copy what the function changes, or return a type that package codec can write"
		}
		if why != "" {
			larder.Unkeep(ctx, fmt.Errorf("lazy: %s: argument %d, a %T, %s", t.node.fn.name, i, args[i], why))
		}
	}
}
