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

// A Making is one execution of a transform on one sample. It may be unnecessary, and
// runs at most once. Its outputs live as long as the sample with its items.
//
// It begins without a result. If it fails in a batch, failed is the error, which the next
// request returns; after that it has no result again. Once it ran it is done, with its
// result in out. If keep is set, a request also needs kept: it passes the result through
// the larder, which runs the transform only if the execution is not done. Executions that
// read the result may release it, unless keep is set.
type Making struct {
	invocation

	mu     ctxMutex      // guards the fields below
	keep   bool          // the larder caches the result
	lean   bool          // the inputs are released when done: a cache holds the outputs
	done   bool          // out is the result
	kept   bool          // the larder has the result; only if done
	cost   time.Duration // of the computation, if kept
	action *key.Action   // nil until described
	out    Sample
	failed error // error of its batch, until it is returned once

	most atomic.Int32 // bound of its batch after a larger one failed as a whole; 0: none
}

func newMaking(d *mapped, m Maker, index int, in Sample, makes []string) *Making {
	return &Making{invocation: invocation{d, index, in, m, makes}, keep: d.Keep && d.Larder != nil}
}

// Node returns the name of the node that runs the execution.
func (m *Making) Node() string { return m.node.Node }

// Index returns the sample's position in the node's dataset.
func (m *Making) Index() int { return m.index }

// Inputs returns the items that the execution reads.
func (m *Making) Inputs() Sample { return m.in }

// Resolved describes the execution with every input identified by its content. It
// computes inputs that are not known.
func (m *Making) Resolved(ctx context.Context) (*key.Action, error) {
	inputs, err := m.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return m.actionOf(ctx, inputs)
}

// Kept reports whether the result is or will be cached across runs.
func (m *Making) Kept(ctx context.Context) (bool, error) {
	if err := m.mu.lock(ctx); err != nil {
		return false, err
	}
	defer m.mu.unlock()
	return m.keep, nil
}

// Action describes the execution. Inputs that are not computed yet are identified by
// their computations.
func (m *Making) Action(ctx context.Context) (*key.Action, error) {
	if err := m.mu.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.unlock()
	return m.describe(ctx)
}

// describe computes the action once. The lock is held.
func (m *Making) describe(ctx context.Context) (*key.Action, error) {
	if m.action != nil {
		return m.action, nil
	}
	ctx, leave := timing.Enter(ctx, timing.Key, m.node.Node)
	defer leave()
	inputs, err := inputsOf(ctx, m.node.Larder, m.in, false)
	if err != nil {
		return nil, m.fail(err)
	}
	m.action, err = m.actionOf(ctx, inputs)
	return m.action, err
}

// Make computes the result if necessary, and caches it if the node caches its results.
func (m *Making) Make(ctx context.Context) error {
	_, err := m.sample(ctx)
	return err
}

// Cost returns how long the computation of a cached result took, whenever that was.
func (m *Making) Cost(ctx context.Context) (time.Duration, error) {
	if err := m.mu.lock(ctx); err != nil {
		return 0, err
	}
	defer m.mu.unlock()
	return m.cost, nil
}

// MarkKept makes the execution cache its result.
func (m *Making) MarkKept(ctx context.Context) {
	if m.node.Larder == nil || m.mu.lock(ctx) != nil {
		return
	}
	m.keep = true
	m.mu.unlock()
}

// sample returns the result of the transform.
func (m *Making) sample(ctx context.Context) (Sample, error) {
	if err := m.mu.lock(ctx); err != nil {
		return Sample{}, err
	}
	defer m.mu.unlock()
	m.foresee(ctx)
	if err := m.failed; err != nil {
		m.failed = nil
		return Sample{}, err
	}
	if m.done && (m.kept || !m.keep) {
		return m.out, nil
	}
	var err error
	if m.keep {
		err = m.recall(ctx)
	} else {
		m.out, err = m.run(ctx)
	}
	m.done = err == nil
	m.releaseInputs()
	return m.out, err
}

// releaseWhenDone makes the execution release its inputs when it is done, unless others hold them.
// The same applies to the executions that computed the inputs.
func (m *Making) releaseWhenDone() {
	if !m.mu.tryLock() {
		return // the goroutine that holds the lock also holds the inputs
	}
	m.lean = true
	m.mu.unlock()
	for _, before := range m.in.Makings() {
		before.releaseWhenDone()
	}
}

// releaseInputs releases inputs that are not part of the result, if the execution is done
// and a cache holds the result. Later requests read them again. The lock is held.
func (m *Making) releaseInputs() {
	if !m.done || !m.lean {
		return
	}
	for in := range m.in.Fields() {
		if slices.ContainsFunc(m.out.fields, func(f Field) bool { return f.Item == in.Item }) {
			continue
		}
		in.Item.drop()
		if before, ok := MakingOf(in.Item); ok && !slices.Contains(m.out.Makings(), before) {
			before.release()
		}
	}
}

// release releases the result unless it is to be cached, or the execution is in use.
func (m *Making) release() {
	if !m.mu.tryLock() {
		return
	}
	defer m.mu.unlock()
	if !m.keep {
		m.done, m.out = false, Sample{}
	}
}

// clearFailed forgets an error that was returned.
func (m *Making) clearFailed() {
	if m.mu.tryLock() {
		m.failed = nil
		m.mu.unlock()
	}
}

// noteFailed stores an error for the next request.
func (m *Making) noteFailed(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, larder.ErrDeferred) && !errors.Is(err, larder.ErrDry) && !errors.Is(err, context.Canceled) {
		m.failed = err
	}
}
