// Package singleflight provides calls that run at most once at a time per key, with
// cancellation for each waiter. Calls that wait for each other return an error.
package singleflight

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"
)

// A Group is a set of running calls. Its zero value is ready to use. It is safe for
// concurrent use.
type Group[K comparable, V any] struct {
	// Scope says what keys belong to. A call within a call for the same key is a cycle
	// if their groups have one Scope. Nil means the group itself. It must not change.
	Scope any
	// Long, if not nil, is called once by each waiter that has waited for a minute. It
	// must not change.
	Long func(Call)

	mu    sync.Mutex
	calls map[K]*call[K, V]
}

// execution is one run of a function for one or several keys, with its waiters.
type execution[K comparable] struct {
	*Call
	keys    []K
	waiters int // guarded by the group's mutex; at 0 the execution is cancelled
	cancel  context.CancelFunc
	done    chan struct{} // closed when the values of all keys are set
}

// call is the result of an execution for one of its keys.
type call[K comparable, V any] struct {
	*execution[K]
	Made[V]
}

// Made is the result for a key.
type Made[V any] struct {
	Value V
	Err   error
}

// Do returns the result of fn. If a call for k is running, Do waits for it instead, and
// joined is true. The name is for messages.
//
// fn runs in its own goroutine, with a context that has the values of the first
// caller's. That context is cancelled only when no caller waits any longer. A caller
// whose own context ends gets its cause immediately, while fn continues for the others.
// A caller that arrives after all have left starts a new call. A panic in fn becomes a
// *PanicError.
//
// A caller gets a *CycleError if it works for a call that this one waits for. Do finds
// this call by the context, or by the goroutine and its ancestors. It finds it
// immediately, or within seconds if the goroutine's profiler labels were replaced.
func (g *Group[K, V]) Do(ctx context.Context, k K, name string, fn func(ctx context.Context) (V, error)) (v V, joined bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return v, false, err
	}
	from := current(ctx)
	if err := from.within(g.scope(), k, name); err != nil {
		return v, false, err
	}
	c, joined := g.join(ctx, from, k, name, fn)
	if err := g.await(ctx, from, c.execution, !joined); err != nil {
		return v, joined, err
	}
	return c.Value, joined, c.Err
}

// DoMany runs fn once for those of the distinct keys that have no running call. claimed
// has the indices of these keys in ascending order, and made has the results of fn in
// the same order. Other callers compute the remaining keys: the caller requests them
// with Do after DoMany returns. So callers that claim overlapping sets of keys do not
// wait for each other.
//
// A caller that requests one of the claimed keys waits until fn has returned. Otherwise
// DoMany behaves as Do.
func (g *Group[K, V]) DoMany(ctx context.Context, keys []K, name string, fn func(ctx context.Context, claimed []int) []Made[V]) (made []Made[V], claimed []int, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	from := current(ctx)
	calls, claimed := g.claim(ctx, from, keys, name, fn)
	if len(calls) == 0 {
		return nil, nil, nil
	}
	e := calls[0].execution
	if err := g.await(ctx, from, e, true); err != nil {
		return nil, nil, err
	}
	made = make([]Made[V], len(calls))
	for i, c := range calls {
		made[i] = c.Made
	}
	return made, claimed, nil
}

// await waits until an execution is done, and leaves it.
func (g *Group[K, V]) await(ctx context.Context, from *Call, e *execution[K], begun bool) error {
	defer g.leave(e)
	w := waiter{from: from, call: e.Call, begun: begun, long: g.Long}
	defer w.end()
	err := w.begin()
	for err == nil {
		select {
		case <-e.done:
			return nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-w.timer.C:
			err = w.look()
		}
	}
	return err
}

func (g *Group[K, V]) scope() any {
	if g.Scope != nil {
		return g.Scope
	}
	return g
}

// join adds a waiter to the call for k, and starts the call if there is none.
func (g *Group[K, V]) join(ctx context.Context, from *Call, k K, name string, fn func(ctx context.Context) (V, error)) (c *call[K, V], joined bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.calls[k]; ok {
		c.waiters++
		return c, true
	}
	e, ctx := g.begin(ctx, from, name, []K{k})
	c = g.add(new(call[K, V]), e, k)
	go g.run(ctx, e, []*call[K, V]{c}, func(ctx context.Context) []Made[V] {
		v, err := Protect(func() (V, error) { return fn(ctx) })
		return []Made[V]{{v, err}}
	})
	return c, false
}

// claim starts a call for the keys that have none.
func (g *Group[K, V]) claim(ctx context.Context, from *Call, keys []K, name string, fn func(ctx context.Context, claimed []int) []Made[V]) (calls []*call[K, V], claimed []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	mine, claimed := make([]K, 0, len(keys)), make([]int, 0, len(keys))
	for i, k := range keys {
		if g.calls[k] == nil && from.within(g.scope(), k, name) == nil {
			mine, claimed = append(mine, k), append(claimed, i)
		}
	}
	if len(mine) == 0 {
		return nil, nil
	}
	e, ctx := g.begin(ctx, from, name, mine)
	buffer := make([]call[K, V], len(mine))
	calls = make([]*call[K, V], len(mine))
	for i, k := range mine {
		calls[i] = g.add(&buffer[i], e, k)
	}
	go g.run(ctx, e, calls, func(ctx context.Context) []Made[V] { return fn(ctx, claimed) })
	return calls, claimed
}

// begin creates an execution with its first waiter.
func (g *Group[K, V]) begin(ctx context.Context, from *Call, name string, keys []K) (*execution[K], context.Context) {
	c := &Call{Name: name, Key: keys[0], Scope: g.scope(), Since: time.Now(), from: from}
	if len(keys) > 1 {
		c.others = sync.OnceValue(func() map[any]bool {
			others := make(map[any]bool, len(keys)-1)
			for _, k := range keys[1:] {
				others[k] = true
			}
			return others
		})
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &execution[K]{Call: c, keys: keys, waiters: 1, cancel: cancel, done: make(chan struct{})}, ctx
}

// add registers c as the call for k.
func (g *Group[K, V]) add(c *call[K, V], e *execution[K], k K) *call[K, V] {
	c.execution = e
	if g.calls == nil {
		g.calls = map[K]*call[K, V]{}
	}
	g.calls[k] = c
	return c
}

func (g *Group[K, V]) run(ctx context.Context, e *execution[K], calls []*call[K, V], fn func(ctx context.Context) []Made[V]) {
	growStack()
	defer e.cancel()
	defer close(e.done)
	defer g.forget(e)
	ctx = e.begin(ctx)
	defer e.end()
	for _, c := range calls {
		c.Err = errGoexit // replaced unless fn ends its goroutine
	}
	marked(e.number, func() {
		made, err := Protect(func() ([]Made[V], error) { return fn(ctx), nil })
		for i, c := range calls {
			if c.Err = err; err == nil {
				c.Made = made[i]
			}
		}
	})
}

// growStack grows the stack of a new goroutine in one step while there is little to
// copy. Gradual growth was a tenth of the cost of a small call.
//
//go:noinline
func growStack() {
	var frame [8 << 10]byte
	keep(&frame)
}

//go:noinline
func keep(*[8 << 10]byte) {}

// errGoexit is the error of a call whose function ended its own goroutine.
var errGoexit = errors.New("singleflight: the function called runtime.Goexit")

// leave removes a waiter. It cancels an execution without waiters, which later callers
// do not join.
func (g *Group[K, V]) leave(e *execution[K]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e.waiters--
	if e.waiters == 0 {
		e.cancel()
		g.remove(e)
	}
}

func (g *Group[K, V]) forget(e *execution[K]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(e)
}

// remove removes an execution from the group, unless another has replaced it.
func (g *Group[K, V]) remove(e *execution[K]) {
	for _, k := range e.keys {
		if c := g.calls[k]; c != nil && c.execution == e {
			delete(g.calls, k)
		}
	}
}

// A PanicError is a panic of a function that had waiters.
type PanicError struct {
	Value any    // argument of panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Protect calls fn and turns a panic into a *PanicError. It also covers panics in the
// methods of an error that fn returns, which would occur later.
func Protect[V any](fn func() (V, error)) (v V, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: debug.Stack()}
		}
	}()
	if v, err = fn(); err == nil {
		return v, nil
	}
	if at := reflect.ValueOf(err); at.Kind() == reflect.Pointer && at.IsNil() {
		return v, fmt.Errorf("the returned error is a typed nil (%T); return nil if there is no error", err)
	}
	_, _ = err.Error(), errors.Is(err, errGoexit)
	_, _ = errors.AsType[*CycleError](err)
	return v, err
}
