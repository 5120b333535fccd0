package lazy

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/key"
)

// The functions Map, Select, Reduce and If build trees that depend on values, such as
// the length of a slice or a condition. Their own key covers the tree of a pattern, in
// which a node without value represents the element. The trees of the elements are
// built when the slice is known.

// errOutside is returned for the element of a pattern.
var errOutside = errors.New("lazy: the element of Map, Select or Reduce was used outside of its function")

// level distinguishes the elements of nested patterns.
type level struct {
	depth int // 1 for the innermost
	typ   string
	place int
}

func (l *level) key() key.Key {
	a, err := key.NewAction("element", key.Version("1"), l.depth, l.typ, l.place)
	if err != nil {
		panic(err) // numbers and strings can be keyed
	}
	return a.Key()
}

// element returns the node that represents the element of a pattern.
func element[T any](place int) (Value[T], *level) {
	l := &level{typ: analysis.TypeText(reflect.TypeFor[T]()), place: place}
	return Value[T]{&node{hole: l}}, l
}

// pattern makes tree part of the function's identity, and sets the depth of the levels
// of its elements.
func (f *function) pattern(tree *node, levels ...*level) int {
	depth := tree.level + 1
	for _, l := range levels {
		l.depth = depth
	}
	f.trees = append(f.trees, tree)
	return depth
}

// Map applies f to each element of a list. Each result is cached separately, so after a
// change only changed or added elements are computed.
func Map[A, B any](f func(Value[A]) Value[B], list Value[[]A]) Value[[]B] {
	fn := newBuiltin("lazy.Map", func(ctx context.Context, e *evaluator, args []any) ([]B, error) {
		return below(ctx, e, each(f, as[[]A](args[0])))
	})
	at, l := element[A](0)
	return patterned[[]B](fn, fn.pattern(f(at).node(), l), list.node())
}

// Select returns the elements of a list for which keep is true.
func Select[A any](keep func(Value[A]) Value[bool], list Value[[]A]) Value[[]A] {
	fn := newBuiltin("lazy.Select", func(ctx context.Context, e *evaluator, args []any) ([]A, error) {
		all := as[[]A](args[0])
		cached, err := below(ctx, e, each(keep, all))
		var chosen []A
		for i, yes := range cached {
			if yes {
				chosen = append(chosen, all[i])
			}
		}
		return chosen, err
	})
	at, l := element[A](0)
	return patterned[[]A](fn, fn.pattern(keep(at).node(), l), list.node())
}

// Reduce folds a list from its start: f(f(f(init, a), b), c). Each step is cached
// separately if f is. So a fold of a list that grew at its end continues from the
// cached steps.
func Reduce[A, R any](f func(Value[R], Value[A]) Value[R], init Value[R], list Value[[]A]) Value[R] {
	fn := newBuiltin("lazy.Reduce", func(ctx context.Context, e *evaluator, args []any) (R, error) {
		v := Of(as[R](args[0]))
		for _, a := range as[[]A](args[1]) {
			v = f(v, Of(a))
		}
		var zero R
		got, err := e.below(ctx, v.node())
		if err != nil {
			return zero, err
		}
		return as[R](got), nil
	})
	so, first := element[R](0)
	at, second := element[A](1)
	return patterned[R](fn, fn.pattern(f(so, at).node(), first, second), init.node(), list.node())
}

// If returns a if cond is true, else b. Only that one is evaluated.
func If[T any](cond Value[bool], a, b Value[T]) Value[T] {
	fn := newBuiltin("lazy.If", func(ctx context.Context, e *evaluator, args []any) (T, error) {
		chosen := b
		if as[bool](args[0]) {
			chosen = a
		}
		var zero T
		got, err := e.below(ctx, chosen.node())
		if err != nil {
			return zero, err
		}
		return as[T](got), nil
	})
	fn.trees = []*node{a.node(), b.node()}
	return patterned[T](fn, max(a.node().level, b.node().level), cond.node())
}

func patterned[R any](fn *function, depth int, args ...*node) Value[R] {
	n := fn.apply(args...)
	n.level = max(n.level, depth)
	return Value[R]{n}
}

func each[A, B any](f func(Value[A]) Value[B], list []A) []Value[B] {
	values := make([]Value[B], len(list))
	for i, a := range list {
		values[i] = f(Of(a))
	}
	return values
}

// below evaluates values for a function that is being evaluated.
func below[T any](ctx context.Context, e *evaluator, values []Value[T]) ([]T, error) {
	got, err := e.below(ctx, Slice(values...).node())
	if err != nil {
		return nil, err
	}
	return as[[]T](got), nil
}

func (v *evaluator) below(ctx context.Context, n *node) (any, error) {
	e := Evaluation{Pool: v.Pool}
	if v.Progress != nil {
		before := Progress{}
		e.Progress = func(p Progress) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.count.Computed += p.Computed - before.Computed
			v.count.Loaded += p.Loaded - before.Loaded
			v.count.Waiting += p.Waiting - before.Waiting
			before = p
			all := v.count
			all.Node, all.From = p.Node, p.From
			v.Progress(all)
		}
	}
	got, err := e.get(ctx, v.larder, n)
	if errors.Is(err, errOutside) {
		err = fmt.Errorf("%w: a function passed to Map, Select or Reduce may use only its arguments", errOutside)
	}
	return got, err
}
