package loader

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/internal/proc/timing"
)

// A Stage is a part of the work of making batches: "decode jpeg", "map resize".
type Stage struct {
	Name string `json:"stage"`
	// Seconds is what it took, without the stages within it, of those batches that were
	// measured; time for which it waited for the disk or another reader is in it.
	Seconds float64 `json:"seconds"`
	// Share is its part of all stages, of 1.
	Share float64 `json:"share"`
	// ASample is its seconds for each sample of the batches that were measured.
	ASample float64 `json:"seconds_a_sample"`
}

// stages are measured in some batches: what is measured costs some microseconds.
type stages struct {
	all     bool
	meter   timing.Meter
	samples atomic.Int64 // of the batches that are measured
	next    atomic.Int64 // when the next is, in nanoseconds since began
}

var began = time.Now()

// measureEvery is the time from one batch that is measured to the next.
const measureEvery = 50 * time.Millisecond

// measure returns the context of a batch of so many samples.
func (s *stages) measure(ctx context.Context, samples int) context.Context {
	now, next := int64(time.Since(began)), s.next.Load()
	if !s.all && (now < next || !s.next.CompareAndSwap(next, now+int64(measureEvery))) {
		return ctx
	}
	s.samples.Add(int64(samples))
	return timing.With(ctx, &s.meter)
}

// Stages returns what the work on batches consisted of so far, by all readers, the
// longest first. It may be called at any time.
func (l *Loader) Stages() []Stage {
	times := l.stages.meter.Times()
	var total time.Duration
	for _, t := range times {
		total += t.Spent
	}
	all := make([]Stage, len(times))
	for i, t := range times {
		all[i] = Stage{t.String(), t.Spent.Seconds(), t.Spent.Seconds() / max(total.Seconds(), 1e-12), t.Spent.Seconds() / float64(max(1, l.stages.samples.Load()))}
	}
	return all
}
