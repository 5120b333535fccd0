package dataset

import (
	"context"
	"errors"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// Foreseen records the work that operators request under a dry context, and that a run
// would do: executions of transforms, and passes over all samples. It may be used by
// many goroutines.
type Foreseen struct {
	mu       sync.Mutex
	makings  []*Making
	passages []Passage
}

// A Passage is a [Scan] that would read all samples.
type Passage struct {
	Node    string
	Action  key.Key // key under which the larder caches the result; zero if not known
	Samples int
	Waits   bool // for results that are not cached
}

type foreseenKey struct{}

// Foresee returns a context under which f records requested work.
func Foresee(ctx context.Context, f *Foreseen) context.Context {
	return context.WithValue(ctx, foreseenKey{}, f)
}

// Take returns what was recorded since the previous call.
func (f *Foreseen) Take() ([]*Making, []Passage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	makings, passages := f.makings, f.passages
	f.makings, f.passages = nil, nil
	return makings, passages
}

// foresee records a requested execution, if ctx records work.
func (m *Making) foresee(ctx context.Context) {
	if f, ok := ctx.Value(foreseenKey{}).(*Foreseen); ok {
		f.mu.Lock()
		f.makings = append(f.makings, m)
		f.mu.Unlock()
	}
}

// foresee scans the samples as far as that is possible without computing. Reading items
// does not compute anything, so the values may be complete.
func (s Scan[T]) foresee(ctx context.Context, ds Dataset[Sample], p Passage) ([]T, error) {
	values, err := s.pass(ctx, ds, nil)
	p.Node, p.Samples, p.Waits = s.Node, ds.Len(), errors.Is(err, larder.ErrDry)
	if f, ok := ctx.Value(foreseenKey{}).(*Foreseen); ok {
		f.mu.Lock()
		f.passages = append(f.passages, p)
		f.mu.Unlock()
	}
	return values, err
}
