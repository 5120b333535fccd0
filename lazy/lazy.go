// Package lazy makes trees of computations whose results are kept.
//
// A [Value] is a value that is made when it is asked for. [Of] makes one of a
// value that is known; the functions that [Func1] and its like return apply a Go
// function to values, and give a value again. Building a tree computes nothing.
// [Value.Get] asks for the root: it reads one record if the result is kept, and
// otherwise computes what is missing, independent branches at the same time,
// and keeps it.
//
//	sq := lazy.Func1("sq", func(ctx context.Context, x int) (int, error) { return x * x, nil })
//	v, err := sq(sq(lazy.Of(3))).Get(ctx, l) // 81
//
// The key of a result is made of the function's name, its types, the identity
// of its code and the keys of its arguments. The code is identified by its
// source, with everything that it calls, where the package registers its
// sources (see package source); else by the executable, coarse but never out of
// date; or by a version that its author gives it.
//
// If an argument was computed again and came out the same, what was made of it
// is found again and not computed (early cutoff). Nodes of equal keys are
// computed once, here, in other goroutines and in other processes.
//
// A function gets its arguments as its own: it may change them. One that cannot be
// copied (package codec cannot write it) is lent to all that use it, and watched:
// if it is written to, what was made of it meanwhile is handed out and not kept. A
// function that captures variables, such as an iterator, cannot be watched: what is
// made of it is kept if one function uses it, and not if several do.
// Constants given to [Of] must not be changed as long as the value is in use. What a function
// reads besides is to be read through package larder (ReadFile, Getenv), which
// makes it a part of the result's record. It sees none of the values of the
// caller's context.
package lazy

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// A Value is a T that is made when it is asked for. It is immutable and may be
// used by many goroutines. The zero Value is an error when asked for.
type Value[T any] struct{ n *node }

// node is a constant or an application of a function.
type node struct {
	fn    *function // nil for a constant
	args  []*node
	value any // of a constant
	copy  func(any) (any, bool)
	// mayBeLent says of a constant that it may be one that cannot be copied.
	mayBeLent bool
	err       error // found while the tree was built

	action atomic.Pointer[identity]
	level  int    // of nested element functions within: see Map
	hole   *level // for the element of one: see Map
}

// identity is a node's name, made when it is first needed.
type identity struct {
	key   key.Key
	value key.Digest // of a large constant
	lent  lending    // of a constant
}

// Of returns a value that is known. It must be of a type that can be keyed
// (see package key) and not be changed while it is in use.
func Of[T any](v T) Value[T] {
	return Value[T]{&node{value: v, copy: copier[T](), mayBeLent: mayBeLent[T]()}}
}

// Get returns the value: from memory, from the store, or by computing what is
// missing. See [Evaluation] for bounds and progress.
func (v Value[T]) Get(ctx context.Context, l *larder.Larder) (T, error) {
	return Get(ctx, l, v, Evaluation{})
}

// Get returns a value, evaluated as e says.
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

// Key returns the key under which the value is kept, or found to be kept.
func (v Value[T]) Key(ctx context.Context, l *larder.Larder) (key.Key, error) {
	b := builder{ctx: ctx, larder: l}
	if err := b.name(v.node()); err != nil {
		return key.Key{}, err
	}
	return v.n.action.Load().key, nil
}

// node returns v's node, and for the zero Value one that says so.
func (v Value[T]) node() *node {
	if v.n == nil {
		return &node{err: fmt.Errorf("lazy: a zero Value[%v] was used: make values with Of or a function", reflect.TypeFor[T]())}
	}
	return v.n
}

// Node is a [Value] of any type.
type Node interface{ node() *node }
