package loader

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/internal/proc/timing"
)

// A Stage is a part of the work on batches, such as "decode jpeg" or "map
// resize".
type Stage struct {
	Name string `json:"stage"`
	// Seconds is its time in the measured batches, without nested stages, but
	// with waits for the disk or another reader.
	Seconds float64 `json:"seconds"`
	// Share is its share of the time of all stages, from 0 to 1.
	Share float64 `json:"share"`
	// ASample is its time per sample of the measured batches, in seconds.
	ASample float64 `json:"seconds_a_sample"`
}

// stages measures a few batches, because measuring costs some microseconds.
type stages struct {
	all     bool
	meter   timing.Meter
	samples atomic.Int64 // in measured batches
	next    atomic.Int64 // time of the next measurement, in nanoseconds since began
}

var began = time.Now()

const measureEvery = 50 * time.Millisecond

// measure returns the context for a batch with this number of samples.
func (s *stages) measure(ctx context.Context, samples int) context.Context {
	now, next := int64(time.Since(began)), s.next.Load()
	if !s.all && (now < next || !s.next.CompareAndSwap(next, now+int64(measureEvery))) {
		return ctx
	}
	s.samples.Add(int64(samples))
	return timing.With(ctx, &s.meter)
}

// Stages returns the stages of the work on batches so far, by all readers, the
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
