package flow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// probes is the number of samples measured to decide on a checkpoint.
const probes = 3

// decide makes the node a checkpoint if that costs less than computing its
// samples for each read: with N reads, (N-1) x compute > (N+1) x io. It
// measures both costs on a few samples, and caches their results so that they
// are not computed twice.
func (r *run) decide(ctx context.Context, s *state) error {
	reads := r.reads(s, int(s.samples))
	if reads <= 1 {
		s.decide("checkpoint auto: no, each sample is read %s", times(reads))
		return nil
	}
	compute, io, err := measure(ctx, s.data.Parts)
	if err != nil {
		return err
	}
	s.pinned = s.pays("checkpoint", reads, compute, io, "storing and reading it")
	return nil
}

// pays decides whether samples with this number of reads are worth storing, and
// records why. It takes the mean costs of computing one and of reading or
// storing it.
func (s *state) pays(what string, reads float64, compute, io time.Duration, having string) bool {
	yes := (reads-1)*compute.Seconds() > (reads+1)*io.Seconds()
	word, than := "no", "is not more than"
	if yes {
		word, than = "yes", "is more than"
	}
	s.decide("%s auto: %s, (%.3g-1) x %v computing a sample %s (%.3g+1) x %v %s",
		what, word, reads, compute.Round(time.Microsecond), than, reads, io.Round(time.Microsecond), having)
	return yes
}

// decide records a decision and its reason.
func (s *state) decide(format string, args ...any) {
	if s.decision != "" {
		s.decision += "; "
	}
	s.decision += fmt.Sprintf(format, args...)
}

// times writes a number of repetitions in words.
func times(n float64) string {
	switch n {
	case 0:
		return "by none"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%.3g times", n)
}

// decideCache decides whether the samples of a node whose cache is auto are
// worth holding in memory. The rule is that of checkpoints: with N reads of
// each, (N-1) x compute > (N+1) x io. It measures a few samples, which stay in
// the cache. Samples that the node does not compute come from files, which
// always cost more than memory.
func (r *run) decideCache(ctx context.Context, s *state, c *dataset.CachedDataset) bool {
	reads := r.reads(s, int(s.samples))
	switch {
	case reads == 0:
		s.decide("cache auto: yes, as the readers of the samples are unknown")
		return true
	case reads <= 1:
		s.decide("cache auto: no, each sample is read %s", times(reads))
		return false
	}
	compute, io, computes := r.measureCache(ctx, s, c)
	if !computes {
		s.decide("cache auto: yes, each sample is read %s", times(reads))
		return true
	}
	return s.pays("cache", reads, compute, io, "storing it in memory")
}

// measureCache returns the mean cost of what the node computes for a sample,
// and of getting one from memory. It ignores errors, because the reader of the
// sample gets them again.
func (r *run) measureCache(ctx context.Context, s *state, c *dataset.CachedDataset) (compute, io time.Duration, computes bool) {
	n := min(probes, c.Len())
	for i := range n {
		sample, err := c.Probe(ctx, i)
		if err != nil {
			return 0, 0, false
		}
		for _, e := range sample.Executions() {
			if s.of(e.Node()) {
				computes = true
				start := time.Now()
				if e.Make(ctx) != nil {
					return 0, 0, false
				}
				compute += time.Since(start)
			}
		}
		start := time.Now()
		c.Held(i)
		io += time.Since(start)
	}
	return compute / time.Duration(max(n, 1)), io / time.Duration(max(n, 1)), computes
}

// of reports whether a place is the node or one of its outputs.
func (s *state) of(place string) bool { return place == s.Name || strings.HasPrefix(place, s.Name+".") }

// measure returns the mean costs of computing a sample, and of storing it or
// reading it back.
func measure(ctx context.Context, parts []component.Samples) (compute, io time.Duration, err error) {
	n := 0
	for _, part := range parts {
		for i := 0; i < part.Len() && n < probes; i++ {
			n++
			sample, err := part.At(ctx, i)
			if err != nil {
				return 0, 0, err
			}
			for _, e := range sample.Executions() {
				e.MarkCached(ctx)
				start := time.Now()
				if err := e.Make(ctx); err != nil {
					return 0, 0, err
				}
				took := time.Since(start)
				cost, err := e.Cost(ctx)
				if err != nil {
					return 0, 0, err
				}
				compute += cost
				io += max(took-cost, 0) // all of it if the result was cached before
				if took < cost {
					io += took
				}
			}
		}
	}
	return compute / time.Duration(max(n, 1)), io / time.Duration(max(n, 1)), nil
}

// reads returns how often the run reads each of a node's samples on average. It
// derives this from the orders of the operators that follow.
func (r *run) reads(s *state, samples int) float64 {
	r.times.mu.Lock()
	defer r.times.mu.Unlock()
	return r.times.reads(s, samples)
}

// readTimes caches how often samples are read, because many paths may lead to
// one node.
type readTimes struct {
	mu sync.Mutex
	of map[stateSamples]float64
}

type stateSamples struct {
	*state
	samples int
}

func (t *readTimes) reads(s *state, samples int) float64 {
	at := stateSamples{s, samples}
	total, known := t.of[at]
	if known {
		return total
	}
	for _, reader := range s.readers {
		total += t.readsThrough(reader, samples)
	}
	if t.of == nil {
		t.of = map[stateSamples]float64{}
	}
	t.of[at] = total
	return total
}

// readsThrough returns how often a node reads each of the samples.
func (t *readTimes) readsThrough(s *state, samples int) float64 {
	if s.Component.Kind == component.Sink || s.Options.Checkpoint {
		return 1
	}
	if s.Component.ScansFor(s.Params) {
		return 1 + t.reads(s, samples)
	}
	if o, ok := s.Component.Order(s.Params, samples); ok && samples > 0 {
		return float64(o.Len()) / float64(samples) * t.reads(s, o.Len())
	}
	return t.reads(s, samples)
}
