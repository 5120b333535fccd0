package dataset

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/key"
)

// An Execution is a pending call of a transform on one sample. It never runs if no item of
// it is requested or its result is cached, and succeeds at most once. Its outputs live as
// long as the sample with its items.
//
// It begins without a result. If it fails in a batch, failed is the error, which the next
// request returns; after that it has no result again. Once it ran it is done, with its
// result in out. If keep is set, a request also needs cached to be true: it passes the result through
// the larder, which runs the transform only if the execution is not done. Executions that
// read the result may release it, unless keep is set.
type Execution struct {
	invocation

	mu     ctxMutex      // guards the fields below
	keep   bool          // the larder caches the result
	lean   bool          // the inputs are released when done: a cache holds the outputs
	done   bool          // out is the result
	cached bool          // the larder has the result; only if done
	cost   time.Duration // of the computation, if cached
	action *key.Action   // nil until described
	out    Sample
	failed error // error of its batch, until it is returned once

	computed atomic.Pointer[Sample] // the result before it was encoded, until it is taken

	most atomic.Int32 // bound of its batch after a larger one failed as a whole; 0: none
}

func newExecution(d *mapped, m Transform, index int, in Sample, makes []string) *Execution {
	return &Execution{invocation: invocation{d, index, in, m, makes}, keep: d.Keep && d.Larder != nil}
}

// Node returns the name of the node that runs the execution.
func (e *Execution) Node() string { return e.node.Node }

// Index returns the sample's position in the node's dataset.
func (e *Execution) Index() int { return e.index }

// Inputs returns the items that the execution reads.
func (e *Execution) Inputs() Sample { return e.in }

// Resolved describes the execution with every input identified by its content. It
// computes inputs that are not known.
func (e *Execution) Resolved(ctx context.Context) (*key.Action, error) {
	inputs, err := e.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return e.actionOf(ctx, inputs)
}

// Keeps reports whether the larder caches the result across runs, now or after the execution.
func (e *Execution) Keeps(ctx context.Context) (bool, error) {
	if err := e.mu.lock(ctx); err != nil {
		return false, err
	}
	defer e.mu.unlock()
	return e.keep, nil
}

// Action describes the execution. Inputs that are not computed yet are identified by
// their computations.
func (e *Execution) Action(ctx context.Context) (*key.Action, error) {
	if err := e.mu.lock(ctx); err != nil {
		return nil, err
	}
	defer e.mu.unlock()
	return e.describe(ctx)
}

// describe computes the action once. The lock is held.
func (e *Execution) describe(ctx context.Context) (*key.Action, error) {
	if e.action != nil {
		return e.action, nil
	}
	ctx, leave := timing.Enter(ctx, timing.Key, e.node.Node)
	defer leave()
	inputs, err := inputsOf(ctx, e.node.Larder, e.in, false)
	if err != nil {
		return nil, e.fail(err)
	}
	e.action, err = e.actionOf(ctx, inputs)
	return e.action, err
}

// Make computes the result if necessary, and caches it if the node caches its results.
func (e *Execution) Make(ctx context.Context) error {
	_, err := e.sample(ctx)
	return err
}

// Cost returns how long the computation of a cached result took, whenever that was.
func (e *Execution) Cost(ctx context.Context) (time.Duration, error) {
	if err := e.mu.lock(ctx); err != nil {
		return 0, err
	}
	defer e.mu.unlock()
	return e.cost, nil
}

// MarkCached makes the execution cache its result.
func (e *Execution) MarkCached(ctx context.Context) {
	if e.node.Larder == nil || e.mu.lock(ctx) != nil {
		return
	}
	e.keep = true
	e.mu.unlock()
}

// sample returns the result of the transform.
func (e *Execution) sample(ctx context.Context) (Sample, error) {
	if err := e.mu.lock(ctx); err != nil {
		return Sample{}, err
	}
	defer e.mu.unlock()
	e.recordRequest(ctx)
	if err := e.failed; err != nil {
		e.failed = nil
		return Sample{}, err
	}
	if e.done && (e.cached || !e.keep) {
		return e.out, nil
	}
	var err error
	if e.keep {
		err = e.recall(ctx)
	} else {
		e.out, err = e.run(ctx)
	}
	e.done = err == nil
	e.releaseInputs()
	return e.out, err
}

// releaseWhenDone makes the execution release its inputs when it is done, unless others hold them.
// The same applies to the executions that computed the inputs.
func (e *Execution) releaseWhenDone() {
	if !e.mu.tryLock() {
		return // the goroutine that holds the lock also holds the inputs
	}
	e.lean = true
	e.mu.unlock()
	for _, before := range e.in.Executions() {
		before.releaseWhenDone()
	}
}

// releaseInputs releases inputs that are not part of the result, if the execution is done
// and a cache holds the result. Later requests read them again. The lock is held.
func (e *Execution) releaseInputs() {
	if !e.done || !e.lean {
		return
	}
	for in := range e.in.Fields() {
		if slices.ContainsFunc(e.out.fields, func(f Field) bool { return f.Item == in.Item }) {
			continue
		}
		in.Item.drop()
		if before, ok := ExecutionOf(in.Item); ok && !slices.Contains(e.out.Executions(), before) {
			before.release()
		}
	}
}

// release releases the result unless it is to be cached, or the execution is in use.
func (e *Execution) release() {
	if !e.mu.tryLock() {
		return
	}
	defer e.mu.unlock()
	if !e.keep {
		e.done, e.out = false, Sample{}
	}
}

// clearFailed forgets an error that was returned.
func (e *Execution) clearFailed() {
	if e.mu.tryLock() {
		e.failed = nil
		e.mu.unlock()
	}
}

// noteFailed stores an error for the next request.
func (e *Execution) noteFailed(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, larder.ErrDeferred) && !errors.Is(err, larder.ErrNotCached) && !errors.Is(err, context.Canceled) {
		e.failed = err
	}
}
