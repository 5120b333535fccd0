// Package timing measures where the time of work goes: of each stage its own, without
// that of the stages within it.
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

// A Stage is a kind of work, and what it is done on: "decode", "jpeg".
type Stage struct{ Kind, Of string }

// Kinds of stages.
const (
	Find    = "find"    // samples: sources and operators
	Read    = "read"    // files with an extension
	Decode  = "decode"  // a format
	Key     = "key"     // results of a node
	Map     = "map"     // by the mapper of a node
	Keep    = "look up" // and keep results of a node
	Collate = "collate"
)

// String names the stage for people.
func (s Stage) String() string { return strings.TrimSpace(s.Kind + " " + s.Of) }

// A Time is what a stage took.
type Time struct {
	Stage
	Spent time.Duration // its own, of all goroutines together
	Count int64         // how often it was entered
}

// A Meter adds up what stages take. It may be used by many goroutines.
type Meter struct {
	stages sync.Map // of *counter by Stage
}

type counter struct{ spent, count atomic.Int64 }

func (m *Meter) of(s Stage) *counter {
	if c, ok := m.stages.Load(s); ok {
		return c.(*counter)
	}
	c, _ := m.stages.LoadOrStore(s, &counter{})
	return c.(*counter)
}

// Times returns what each stage took, the longest first.
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

// A span is one pass through a stage.
type span struct {
	meter  *Meter
	within atomic.Int64 // nanoseconds of the spans in it
}

type spanKey struct{}

// With returns a context whose work is measured.
func With(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, spanKey{}, &span{meter: m})
}

// Enter begins a stage, if what is done with ctx is measured: it returns the context of
// the work in it, and what ends it. Stages in it that are entered by goroutines beside
// each other are taken off it one after another, down to 0.
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
