// Package timing measures the time of each stage of the work, without the stages within
// it.
package timing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Stage is a kind of work and its object: "decode", "jpeg".
type Stage struct{ Kind, Of string }

// Kinds of stages.
const (
	Find    = "find"    // samples: sources and operators
	Read    = "read"    // files with an extension
	Decode  = "decode"  // a format
	Key     = "key"     // results of a node
	Map     = "map"     // by the mapper of a node
	Keep    = "look up" // and store results of a node
	Collate = "collate"
)

// String returns the human-readable name of the stage.
func (s Stage) String() string { return strings.TrimSpace(s.Kind + " " + s.Of) }

// A Time is the time of a stage.
type Time struct {
	Stage
	Spent time.Duration // without inner stages, over all goroutines
	Count int64         // number of calls of Enter
}

// A Meter sums the times of stages. It is safe for concurrent use.
type Meter struct {
	stages sync.Map // *counter by Stage
}

type counter struct{ spent, count atomic.Int64 }

func (m *Meter) of(s Stage) *counter {
	if c, ok := m.stages.Load(s); ok {
		return c.(*counter)
	}
	c, _ := m.stages.LoadOrStore(s, &counter{})
	return c.(*counter)
}

// Times returns the time of each stage, the longest first.
func (m *Meter) Times() []Time {
	var all []Time
	m.stages.Range(func(s, c any) bool {
		n := c.(*counter)
		all = append(all, Time{s.(Stage), time.Duration(n.spent.Load()), n.count.Load()})
		return true
	})
	slices.SortFunc(all, func(a, b Time) int {
		return cmp.Or(cmp.Compare(b.Spent, a.Spent), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Of, b.Of))
	})
	return all
}

// A span is one run of a stage.
type span struct {
	meter  *Meter
	within atomic.Int64 // nanoseconds of the inner spans
}

type spanKey struct{}

// With returns a context whose work is measured.
func With(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, spanKey{}, &span{meter: m})
}

// Enter begins a stage if ctx is measured. It returns the context of the stage's work,
// and a function that ends the stage. The times of concurrent inner stages are all
// subtracted from it, down to 0.
func Enter(ctx context.Context, kind, of string) (in context.Context, leave func()) {
	outer, ok := ctx.Value(spanKey{}).(*span)
	if !ok {
		return ctx, nothing
	}
	own, start := &span{meter: outer.meter}, time.Now()
	return context.WithValue(ctx, spanKey{}, own), func() {
		took := time.Since(start)
		outer.within.Add(int64(took))
		c := outer.meter.of(Stage{kind, of})
		c.spent.Add(max(0, int64(took)-own.within.Load()))
		c.count.Add(1)
	}
}

func nothing() {}
