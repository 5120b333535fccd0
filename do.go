package larder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
)

// ErrCycle is returned to a computation that requests its own result, through any
// context or goroutine that it started, and to computations that need each other's
// results. The error lists the cycle. For child processes see [Environ].
var ErrCycle = errors.New("larder: a computation needs its own result")

// Do returns the value of action a from memory, from the store, or by running compute.
// At most one compute per key runs at a time over all goroutines and processes that
// share the store.
//
// Every waiter receives the error of compute; errors are not cached. A panic in compute
// becomes a *singleflight.PanicError with its stack. When ctx ends, Do returns its
// cause immediately. The context of compute is cancelled only when no caller waits for
// it; a result after that is not cached. If a type cannot be stored without loss, Do
// returns an error before it runs compute.
//
// Some values are returned but not cached, with a warning in the log: values that
// package codec cannot encode, and values during whose computation the arguments of the
// action, or files that compute read, changed.
//
// The value belongs to the caller. But a large *array.Array may be memory mapped from
// the store: the caller may read it, and a write to it ends the program.
func Do[T any](ctx context.Context, l *Larder, a *key.Action, compute func(context.Context) (T, error)) (T, error) {
	r, err := Call[T]{Action: a, Compute: compute}.Do(ctx, l)
	return r.Value, err
}

// A Call is one use of the cache with all its options.
type Call[T any] struct {
	Action *key.Action
	// Compute computes the value.
	Compute func(context.Context) (T, error)
	// Resolve returns the action's inputs by content. It is needed where some inputs
	// are identified by the computation that produces them (key.Result). It is called
	// only if the action's own key finds nothing. If the inputs have the same content
	// as before, the old value is found (early cutoff).
	Resolve func(context.Context) ([]key.Input, error)
	// Value encodes and decodes a T; nil means codec.For[T].
	Value *codec.Value[T]
	// Share returns the same decoded value to all callers, which must not change what
	// it refers to. Otherwise each caller gets its own value.
	Share bool
	// MemoryOnly caches the value in memory and not in the store. Together with Share
	// it allows any T, such as a model, a function or a connection.
	MemoryOnly bool
	// Bytes estimates the memory of a shared value; nil means the length of its
	// encoding, if it has one.
	Bytes func(T) int64

	// SkipVerify excludes the value from [Options.Verify]. It is for values that depend on
	// the program alone.
	SkipVerify bool
}

// A Result is a value and its origin.
type Result[T any] struct {
	Value T
	From  From
	Key   key.Key       // of the record that holds the value
	Cost  time.Duration // of the computation, whenever it ran
	Bytes int64         // of the encoding
	Reads []Read        // dependencies of the value and of its inputs beyond its arguments
	// Uncached is the reason why the value is not cached; nil if it is. All callers that
	// waited for a value that cannot be encoded share it, because it cannot be copied
	// either.
	Uncached error
}

// From is the origin of a value.
type From int

// Origins of values.
const (
	Computed From = iota
	FromMemory
	FromStore
)

// Find returns the value if it is cached in memory, or in the store under the action's
// own key. It computes nothing.
func (c Call[T]) Find(ctx context.Context, l *Larder) (Result[T], bool) {
	return c.find(ctx, l, l.reads.Get)
}

// Peek is Find, but ignores records that other processes stored in the last moments. It
// is for callers that have just looked, or whose next step is [Call.Do].
func (c Call[T]) Peek(ctx context.Context, l *Larder) (Result[T], bool) {
	return c.find(ctx, l, l.reads.GetWithoutRefresh)
}

func (c Call[T]) find(ctx context.Context, l *Larder, get getter) (Result[T], bool) {
	if c.complete() != nil {
		return Result[T]{}, false // such values are never cached
	}
	k := c.Action.Key()
	r, ok := c.findInMemory(ctx, l, k)
	if !ok && context.Cause(ctx) == nil {
		r, ok = c.findInStore(ctx, l, k, get)
	}
	if ok {
		AddDependencies(ctx, r.Reads...)
	}
	return r, ok
}

// Do runs the call as the function [Do] does.
func (c Call[T]) Do(ctx context.Context, l *Larder) (Result[T], error) {
	if err := c.complete(); err != nil {
		return Result[T]{}, err
	}
	r, err := c.do(ctx, l, c.Action.Key())
	return r, c.report(ctx, r, err)
}

// complete sets the default of c.Value.
func (c *Call[T]) complete() (err error) {
	if c.Value == nil {
		c.Value, err = codec.For[T]()
	}
	if err != nil && c.MemoryOnly && c.Share {
		c.Value, err = unencoded[T](), nil
	}
	if err != nil {
		err = fmt.Errorf("larder: %s: %w", c.Action.Op().Name(), err)
	}
	return err
}

func unencoded[T any]() *codec.Value[T] {
	typ, _ := typeNumbers.LoadOrStore(reflect.TypeFor[T](), rand.Uint64())
	return &codec.Value[T]{
		ID: "memory", Type: typ.(uint64),
		Encode: func(dst []byte, _ T) ([]byte, error) { return dst, nil },
		Decode: func([]byte) (v T, err error) { return v, errors.New("larder: the value is cached in memory only") },
	}
}

// typeNumbers distinguishes types that have no fingerprint.
var typeNumbers sync.Map // of reflect.Type to uint64

// report reports the dependencies of a result to the enclosing computation.
func (c Call[T]) report(ctx context.Context, r Result[T], err error) error {
	if err == nil {
		AddDependencies(ctx, r.Reads...)
	}
	if errors.Is(r.Uncached, ErrInputChanged) {
		NoStore(ctx, r.Uncached)
	}
	return err
}

func (c Call[T]) do(ctx context.Context, l *Larder, k key.Key) (Result[T], error) {
	if r, ok := c.findInMemory(ctx, l, k); ok {
		return r, nil
	}
	if err := context.Cause(ctx); err != nil {
		return Result[T]{}, err
	}
	if r, ok := c.findInStore(ctx, l, k, l.reads.GetWithoutRefresh); ok {
		return r, c.verify(ctx, l, r)
	}
	if IsCachedOnly(ctx) {
		return c.findCachedOnly(ctx, l)
	}
	o, joined, err := l.flight.Do(ctx, k, c.Action.Op().Name(), func(ctx context.Context) (outcome, error) {
		return c.computeOnce(ctx, l, k)
	})
	if joined && errors.Is(err, ErrDeferred) {
		return c.do(ctx, l, k) // claimed as part of a batch, but not begun
	}
	return c.deliver(k, o, joined, err)
}

// deliver returns to a caller the outcome that was found or computed for all waiters of
// k.
func (c Call[T]) deliver(k key.Key, o outcome, joined bool, err error) (Result[T], error) {
	if cycle, ok := errors.AsType[*singleflight.CycleError](err); ok && !errors.Is(err, ErrCycle) {
		err = fmt.Errorf("%w: %s (%s)", ErrCycle, strings.Join(cycle.Path, " -> "), k)
	}
	if err != nil {
		return Result[T]{}, err
	}
	if joined && o.from == Computed {
		o.from = FromMemory // computed, but not by this caller
	}
	if own, ok := o.own.(T); ok && !joined {
		return Result[T]{own, o.from, o.key, o.cost, o.bytes, o.reads, o.uncached}, nil
	}
	r, err := c.result(o.entry, o.from)
	r.Reads = o.reads
	return r, err
}
