// Package model simulates a shop.
package model

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"time"

	"programs/p07/sim"
)

// A Policy chooses who is served next.
type Policy interface {
	Next(waiting []*Customer) int
	fmt.Stringer
}

type (
	// FIFO serves whoever came first.
	FIFO struct{}
	// Shortest serves the shortest job.
	Shortest struct{}
	// Weighted serves by class.
	Weighted struct{ Weights map[string]float64 }
)

// Next implements Policy.
func (FIFO) Next([]*Customer) int { return 0 }

// Next implements Policy.
func (Shortest) Next(w []*Customer) int {
	best := 0
	for i, c := range w {
		if c.Job < w[best].Job {
			best = i
		}
	}
	return best
}

// Next implements Policy.
func (p Weighted) Next(w []*Customer) int {
	best, score := 0, math.Inf(-1)
	for i, c := range w {
		if s := p.Weights[c.Class]; s > score {
			best, score = i, s
		}
	}
	return best
}

func (FIFO) String() string       { return "fifo" }
func (Shortest) String() string   { return "shortest" }
func (p Weighted) String() string { return fmt.Sprintf("weighted %v", p.Weights) }

// policies by name.
var policies = map[string]func() Policy{
	"fifo":     func() Policy { return FIFO{} },
	"shortest": func() Policy { return Shortest{} },
	"vip":      func() Policy { return Weighted{map[string]float64{"vip": 10, "normal": 1}} },
}

// A Customer wants to be served.
type Customer struct {
	ID    int
	Class string
	Came  time.Duration
	Job   time.Duration
}

// Options describe a shop.
type Options struct {
	Tills    int
	Arrivals time.Duration // mean between two
	Service  time.Duration // mean
	VIP      float64       // part
	Policy   string
	sim.Config
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	if o.Tills == 0 {
		o.Tills = 1
	}
	if o.Arrivals == 0 {
		o.Arrivals = time.Minute
	}
	if o.Service == 0 {
		o.Service = 50 * time.Second
	}
	if o.Policy == "" {
		o.Policy = "fifo"
	}
	return o
}

// A Result says how it went.
type Result struct {
	Served  int
	Waits   []time.Duration
	Longest int
	Log     string
}

// Mean is the mean wait.
func (r Result) Mean() time.Duration {
	if len(r.Waits) == 0 {
		return 0
	}
	var sum time.Duration
	for _, w := range r.Waits {
		sum += w
	}
	return sum / time.Duration(len(r.Waits))
}

// Percentile of the waits.
func (r Result) Percentile(p float64) time.Duration {
	w := slices.Sorted(slices.Values(r.Waits))
	if len(w) == 0 {
		return 0
	}
	return w[min(int(p*float64(len(w))), len(w)-1)]
}

type shop struct {
	o       Options
	policy  Policy
	free    int
	waiting []*Customer
	res     Result
	next    int
}

type arrival struct{ shop *shop }

// Happen implements sim.Event.
func (a arrival) Happen(w *sim.World) error {
	s := a.shop
	s.next++
	c := &Customer{s.next, "normal", w.Now, w.Exp(s.o.Service)}
	if w.Rand.Float64() < s.o.VIP {
		c.Class = "vip"
	}
	s.waiting = append(s.waiting, c)
	s.res.Longest = max(s.res.Longest, len(s.waiting))
	w.Logf("%d (%s) came", c.ID, c.Class)
	w.After(w.Exp(s.o.Arrivals), a)
	s.serve(w)
	return nil
}

func (s *shop) serve(w *sim.World) {
	for s.free > 0 && len(s.waiting) > 0 {
		i := s.policy.Next(s.waiting)
		c := s.waiting[i]
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.free--
		s.res.Waits = append(s.res.Waits, w.Now-c.Came)
		w.After(c.Job, sim.EventFunc(func(w *sim.World) error {
			s.free++
			s.res.Served++
			w.Logf("%d left", c.ID)
			s.serve(w)
			return nil
		}))
	}
}

// Simulate runs a shop.
func Simulate(o Options) (Result, error) {
	o = o.withDefaults()
	mk, ok := policies[o.Policy]
	if !ok {
		return Result{}, fmt.Errorf("model: no policy %q", o.Policy)
	}
	var log bytes.Buffer
	w := sim.New(o.Config, &log)
	s := &shop{o: o, policy: mk(), free: o.Tills}
	w.After(0, arrival{s})
	err := w.Run(o.Until)
	s.res.Log = log.String()
	return s.res, err
}

// Walk is a random walk, for comparison.
func Walk(seed int64, n int) ([]int, error) {
	w := sim.New(sim.Config{Seed: seed}, nil)
	var path []int
	at := 0
	var step sim.EventFunc
	step = func(w *sim.World) error {
		at += 2*w.Rand.Intn(2) - 1
		if path = append(path, at); len(path) == n {
			return sim.ErrStop
		}
		w.After(time.Second, step)
		return nil
	}
	w.After(0, step)
	return path, w.Run(time.Hour)
}
