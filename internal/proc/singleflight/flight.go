// Package singleflight runs one call at a time for a key, and gives every waiter its
// own way out. Calls that wait for each other are an error, not silence.
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

// A Group is a set of calls under way. Its zero value is ready. It may be used
// by many goroutines.
type Group[K comparable, V any] struct {
	// Scope, which is not changed, says what keys are of: a call within a call
	// for the same key is a cycle if their groups have one Scope. Nil stands
	// for the group itself.
	Scope any
	// Long, if not nil, is told once by each who has waited for a minute for
	// what. It is not changed.
	Long func(Call)

	mu    sync.Mutex
	calls map[K]*call[K, V]
}

// execution is one run of a function, for one key or several, and those who
// wait for it.
type execution[K comparable] struct {
	*Call
	keys    []K
	waiters int // guarded by the group's mutex; at 0 it is given up
	cancel  context.CancelFunc
	done    chan struct{} // closed when the values of all keys are set
}

// call is what comes out of an execution for one of its keys.
type call[K comparable, V any] struct {
	*execution[K]
	Made[V]
}

// Made is what came out for a key.
type Made[V any] struct {
	Value V
	Err   error
}

// Do returns what fn returns, running it unless a call for k is under way, in
// which case it waits for that one and joined is true. The name is for people.
//
// fn runs in a goroutine of its own, with a context that has the values of the
// first caller's. That context is cancelled only when no caller waits any
// more. A caller whose own context ends gets its cause at once, while fn goes
// on for the others; one that comes after all have left starts a new call. A
// panic in fn is a *PanicError.
//
// A caller that works for a call which this one waits for gets a *CycleError. Who
// works for a call is told by the context, or by being its goroutine or started
// by it, however far down: at once, or within seconds where that goroutine has
// been given other labels for the profiler.
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

// DoMany runs fn once for those of the keys, which are all different, for which
// no call is under way: claimed says which, in ascending order, and made what fn
// returned, one for each of these. The others are left to whoever makes them: the
// caller asks for them with Do once it has what it claimed. So those who claim
// many keys at once do not wait for each other.
//
// Whoever asks for one of the keys meanwhile waits until fn has returned. All else
// is as in Do.
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

// join adds a waiter to the call for k, starting it if there is none.
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

// claim starts a call for those of the keys for which there is none.
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
	room := make([]call[K, V], len(mine))
	calls = make([]*call[K, V], len(mine))
	for i, k := range mine {
		calls[i] = g.add(&room[i], e, k)
	}
	go g.run(ctx, e, calls, func(ctx context.Context) []Made[V] { return fn(ctx, claimed) })
	return calls, claimed
}

// begin makes an execution, with the one who began it as its first waiter.
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

// add puts c into the place of k.
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

// growStack makes a young goroutine's stack large at once, while there is little
// on it to copy: grown step by step it was a tenth of the cost of a small
// call.
//
//go:noinline
func growStack() {
	var frame [8 << 10]byte
	keep(&frame)
}

//go:noinline
func keep(*[8 << 10]byte) {}

// errGoexit is the error of a call whose function ended its own goroutine.
var errGoexit = errors.New("flight: the function called runtime.Goexit")

// leave takes a waiter away. An execution that nobody waits for is cancelled, and
// whoever comes next does not join it.
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

// remove ends the place of an execution in the group, unless others have it.
func (g *Group[K, V]) remove(e *execution[K]) {
	for _, k := range e.keys {
		if c := g.calls[k]; c != nil && c.execution == e {
			delete(g.calls, k)
		}
	}
}

// A PanicError is a panic of a function that somebody waited for.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Protect calls fn and turns a panic into a *PanicError, also one of the methods
// of an error that it returns, which would come when somebody asks what it is.
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
		return v, fmt.Errorf("the error that was returned is a nil %T, which is not nil: return nil where nothing failed", err)
	}
	_, _ = err.Error(), errors.Is(err, errGoexit)
	_, _ = errors.AsType[*CycleError](err)
	return v, err
}
