package dataset

import (
	"context"
	"errors"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// A DryRunRecorder records the work that operators request under [larder.CachedOnly], and
// that a run would do: executions of transforms, and passes over all samples. It may be
// used by many goroutines.
type DryRunRecorder struct {
	mu         sync.Mutex
	executions []*Execution
	scans      []PendingScan
}

// A PendingScan is a [Scan] that would read all samples.
type PendingScan struct {
	Node    string
	Action  key.Key // key under which the larder caches the result; zero if not known
	Samples int
	Waits   bool // for results that are not cached
}

type dryRunRecorderKey struct{}

// WithDryRunRecorder returns a context under which r records requested work.
func WithDryRunRecorder(ctx context.Context, r *DryRunRecorder) context.Context {
	return context.WithValue(ctx, dryRunRecorderKey{}, r)
}

// Take returns what was recorded since the previous call.
func (r *DryRunRecorder) Take() ([]*Execution, []PendingScan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	executions, scans := r.executions, r.scans
	r.executions, r.scans = nil, nil
	return executions, scans
}

// recordRequest records a requested execution, if ctx records work.
func (e *Execution) recordRequest(ctx context.Context) {
	if r, ok := ctx.Value(dryRunRecorderKey{}).(*DryRunRecorder); ok {
		r.mu.Lock()
		r.executions = append(r.executions, e)
		r.mu.Unlock()
	}
}

// dryRun scans the samples as far as that is possible without computing. Reading items
// does not compute anything, so the values may be complete.
func (s Scan[T]) dryRun(ctx context.Context, ds Dataset[Sample], p PendingScan) ([]T, error) {
	values, err := s.pass(ctx, ds, nil)
	p.Node, p.Samples, p.Waits = s.Node, ds.Len(), errors.Is(err, larder.ErrNotCached)
	if r, ok := ctx.Value(dryRunRecorderKey{}).(*DryRunRecorder); ok {
		r.mu.Lock()
		r.scans = append(r.scans, p)
		r.mu.Unlock()
	}
	return values, err
}
