package dataset

import (
	"context"
	"errors"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// Foreseen notes what operators ask for under a dry context, which they do not
// get: executions of makers, and passes over all samples. A run would carry them
// out. It may be used by many goroutines.
type Foreseen struct {
	mu       sync.Mutex
	makings  []*Making
	passages []Passage
}

// A Passage is a [Scan] that would look at all samples.
type Passage struct {
	Node    string
	Action  key.Key // under which the larder keeps what comes of it; zero if it is not known
	Samples int
	Waits   bool // for results that are not there
}

type foreseenKey struct{}

// Foresee returns a context under which f notes what is asked for.
func Foresee(ctx context.Context, f *Foreseen) context.Context {
	return context.WithValue(ctx, foreseenKey{}, f)
}

// Take returns what was noted since it was called last.
func (f *Foreseen) Take() ([]*Making, []Passage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	makings, passages := f.makings, f.passages
	f.makings, f.passages = nil, nil
	return makings, passages
}

// foresee notes an execution that is asked for, if that is only foreseen.
func (m *Making) foresee(ctx context.Context) {
	if f, ok := ctx.Value(foreseenKey{}).(*Foreseen); ok {
		f.mu.Lock()
		f.makings = append(f.makings, m)
		f.mu.Unlock()
	}
}

// foresee goes through the samples as far as that is possible without computing.
// Looking at items is no computation, so the values may come out.
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
