// Package lazy provides trees of lazy computations with cached results.
//
// A [Value] is computed when it is requested. [Of] returns one for a known value. The
// functions that [Func1] and similar ones return apply a Go function to values and
// return a Value. Building a tree computes nothing. [Value.Get] requests the root. It
// reads one record if the result is cached. Otherwise it computes what is missing,
// independent branches concurrently, and stores it.
//
//	sq := lazy.Func1("sq", func(ctx context.Context, x int) (int, error) { return x * x, nil })
//	v, err := sq(sq(lazy.Of(3))).Get(ctx, l) // 81
//
// The key of a result is computed from the function's name, its types, the identity of
// its code and the keys of its arguments. The code is identified by a version if its
// author gives one. Else it is identified by its source, with everything that it calls,
// if the package registers its sources (see package codeid). Else it is identified by
// the executable, which is coarse but never out of date.
//
// If an argument was computed again and has the same value, results computed from it
// are found again (early cutoff). Nodes with equal keys are computed once over all
// goroutines and processes.
//
// A function owns its arguments and may change them. An argument that package codec
// cannot encode cannot be copied. All functions that use it borrow it, and Larder
// watches it: if it is written to, results computed from it until then are returned and
// not cached. An argument such as an iterator, which captures variables, cannot be
// watched: results computed from it are cached only if one function uses it.
//
// The caller must not change constants passed to [Of] while the value is in use. A
// function must read files and variables through package larder (ReadFile, Getenv),
// which adds them to the result's record. It does not see the values of the caller's
// context.
package lazy

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// A Value is a T that is computed when it is requested. It is immutable and safe for
// concurrent use. A request of the zero Value returns an error.
type Value[T any] struct{ n *node }

// node is a constant or an application of a function.
type node struct {
	fn    *function // nil for a constant
	args  []*node
	value any // of a constant
	copy  func(any) (any, bool)
	// mayBeBorrowed is true for a constant that may not be copyable.
	mayBeBorrowed bool
	err           error // found while the tree was built

	action atomic.Pointer[identity]
	level  int    // depth of nested element functions: see Map
	hole   *level // set for the element of a pattern: see Map
}

// identity identifies a node. It is computed when first needed.
type identity struct {
	key      key.Key
	value    key.Digest // of a large constant
	borrowed lending    // of a constant
}

// Of returns a Value for v. The type must be keyable (see package key), and the caller
// must not change v while it is in use.
func Of[T any](v T) Value[T] {
	return Value[T]{&node{value: v, copy: copier[T](), mayBeBorrowed: mayBeBorrowed[T]()}}
}

// Get returns the value from memory, from the store, or by computing what is missing.
// See [Evaluation] for bounds and progress.
func (v Value[T]) Get(ctx context.Context, l *larder.Larder) (T, error) {
	return Get(ctx, l, v, Evaluation{})
}

// Get returns a value, evaluated with the options e.
func Get[T any](ctx context.Context, l *larder.Larder, v Value[T], e Evaluation) (T, error) {
	var zero T
	got, err := e.get(ctx, l, v.node())
	if err != nil {
		return zero, err
	}
	t, ok := got.(T)
	if !ok && got != nil {
		return zero, fmt.Errorf("lazy: a %T where a %v is wanted", got, reflect.TypeFor[T]())
	}
	return t, nil
}

// Key returns the key under which the value is or would be stored.
func (v Value[T]) Key(ctx context.Context, l *larder.Larder) (key.Key, error) {
	b := builder{ctx: ctx, larder: l}
	if err := b.name(v.node()); err != nil {
		return key.Key{}, err
	}
	return v.n.action.Load().key, nil
}

// node returns v's node, and for the zero Value one with an error.
func (v Value[T]) node() *node {
	if v.n == nil {
		return &node{err: fmt.Errorf("lazy: a zero Value[%v] was used: make values with Of or a function", reflect.TypeFor[T]())}
	}
	return v.n
}

// Node is a [Value] of any type.
type Node interface{ node() *node }
