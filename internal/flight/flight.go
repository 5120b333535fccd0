// Package flight runs one call at a time for a key, and gives every waiter its
// own way out. Calls that wait for each other are an error, not silence.
package flight

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
	calls map[K]*call[V]
}

// call is one execution and those who wait for it.
type call[V any] struct {
	*Call
	waiters int // guarded by the group's mutex; at 0 the call is given up
	cancel  context.CancelFunc
	done    chan struct{} // closed when value and err are set
	value   V
	err     error
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
	w := waiter{from: from, call: c.Call, begun: !joined, long: g.Long}
	defer w.end()
	err = w.begin()
	for err == nil {
		select {
		case <-c.done:
			g.leave(k, c)
			return c.value, joined, c.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-w.timer.C:
			err = w.look()
		}
	}
	g.leave(k, c)
	return v, joined, err
}

func (g *Group[K, V]) scope() any {
	if g.Scope != nil {
		return g.Scope
	}
	return g
}

// join adds a waiter to the call for k, starting it if there is none.
func (g *Group[K, V]) join(ctx context.Context, from *Call, k K, name string, fn func(ctx context.Context) (V, error)) (c *call[V], joined bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.calls[k]; ok {
		c.waiters++
		return c, true
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c = &call[V]{Call: &Call{Name: name, Key: k, Scope: g.scope(), Since: time.Now(), from: from}, waiters: 1, cancel: cancel, done: make(chan struct{})}
	if g.calls == nil {
		g.calls = map[K]*call[V]{}
	}
	g.calls[k] = c
	go g.run(ctx, k, c, fn)
	return c, false
}

func (g *Group[K, V]) run(ctx context.Context, k K, c *call[V], fn func(ctx context.Context) (V, error)) {
	growStack()
	defer c.cancel()
	defer close(c.done)
	defer g.forget(k, c)
	ctx = c.begin(ctx)
	defer c.end()
	c.err = errGoexit // replaced unless fn ends its goroutine
	marked(c.number, func() { c.value, c.err = Protect(func() (V, error) { return fn(ctx) }) })
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

// leave takes a waiter away. A call that nobody waits for is cancelled, and
// whoever comes next does not join it.
func (g *Group[K, V]) leave(k K, c *call[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.waiters--
	if c.waiters == 0 {
		c.cancel()
		g.remove(k, c)
	}
}

func (g *Group[K, V]) forget(k K, c *call[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(k, c)
}

// remove ends the call's place in the group, unless another call has it.
func (g *Group[K, V]) remove(k K, c *call[V]) {
	if g.calls[k] == c {
		delete(g.calls, k)
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
