package pool

import (
	"context"
	"sync/atomic"
	"time"
)

// A worker takes as many elements as it computes in about stretchTime, which amortizes
// the cost of passing, looking up and storing them. A [RoundTrip] takes about the same time
// for any number of elements. After one, a worker takes as many as it computes in that time,
// up to Patience/2.
const (
	stretchTime = 4 * time.Millisecond
	maxStretch  = 512 // elements
)

// Patience is how long a worker continues with its elements before it gives back the
// rest. It is several time slices of the system's scheduler, because a worker may wait
// that long on a busy machine.
const Patience = 8 * stretchTime

// span is the elements in [from, to).
type span struct{ from, to int }

// spans gives elements to workers: consecutive ones, as many as a worker is likely to
// compute within stretchTime.
type spans struct {
	n     int    // elements
	next  int    // those before are done, in progress or given back
	back  []span // given back by slow workers
	size  int    // elements per take, unless least is more
	least int    // minimum; 0 means 1
	limit int    // of size
}

// most returns the largest number of elements per take.
func (s *spans) most() int { return max(s.size, s.least, 1) }

// take returns elements to compute, the first of which is before limit, if there are
// any.
func (s *spans) take(limit int) (t span, ok bool) {
	if len(s.back) > 0 {
		return s.takeBack(), true
	}
	if s.next >= min(s.n, limit) {
		return t, false
	}
	t = span{s.next, min(s.next+s.most(), s.n)}
	s.next = t.to
	return t, true
}

// takeBack returns the first of the elements that were given back, no more than usual:
// if they are slow, others help with the rest.
func (s *spans) takeBack() span {
	k := 0
	for i, t := range s.back {
		if t.from < s.back[k].from {
			k = i
		}
	}
	first := span{s.back[k].from, min(s.back[k].from+s.most(), s.back[k].to)}
	if s.back[k].from = first.to; s.back[k].from == s.back[k].to {
		s.back = append(s.back[:k], s.back[k+1:]...)
	}
	return first
}

// settle records how many elements of t were computed, and gives back the rest unless
// the worker failed. After a slow take the size is halved at most, because the worker
// may have waited for a processor.
func (s *spans) settle(t span, made int, failed bool, d durations) {
	took, stretch := d.took, max(stretchTime, min(d.waited, Patience/2))
	if rest := (span{t.from + made, t.to}); rest.from < rest.to && !failed {
		s.back = append(s.back, rest)
	}
	switch {
	case took > 2*stretch:
		s.size = max(1, min(s.size, max(s.size/2, int(int64(made)*int64(stretch)/int64(took)))))
	case took < stretch/2 && made >= s.most():
		factor := 2
		if d.waited > stretch {
			factor = 8 // few elements cost as much time as many
		}
		s.size = max(s.most(), min(factor*s.most(), s.limit))
	}
}

// durations says how long a worker took for its elements, and how long it also
// waited for round trips.
type durations struct{ took, waited time.Duration }

// stopwatch returns a context, and a function that returns the durations of the work in it
// since then.
func stopwatch(ctx context.Context) (inner context.Context, passed func() durations) {
	start, waits := time.Now(), new(atomic.Int64)
	return context.WithValue(ctx, waitsKey{}, waits), func() durations {
		waited := time.Duration(waits.Load())
		return durations{max(0, time.Since(start)-waited), waited}
	}
}

type waitsKey struct{}
