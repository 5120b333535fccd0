package flow

import (
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

// An Event is one event of a run.
type Event struct {
	Time  time.Time      `json:"time"`
	Event EventKind      `json:"event"`
	Node  string         `json:"node,omitempty"`
	Kind  component.Kind `json:"kind,omitempty"`
	Done  int64          `json:"done"`            // samples so far
	Total int64          `json:"total,omitempty"` // number of samples; 0 if unknown
	// Computed, FromMemory, FromStore and Failed are the counters of a
	// [NodeReport] so far.
	Computed   int64  `json:"computed,omitempty"`
	FromMemory int64  `json:"from_memory,omitempty"`
	FromStore  int64  `json:"from_store,omitempty"`
	Failed     int64  `json:"failed,omitempty"`
	Message    string `json:"message,omitempty"`
}

// An EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	NodeStarted  EventKind = "node_started"
	NodeProgress EventKind = "progress" // at most ten a second
	NodeDone     EventKind = "node_done"
	Warning      EventKind = "warning" // of the cache or a component; the run continues. larder run prints it
	RunError     EventKind = "error"   // of a node; ends the run
)

// events passes events to observers.
type events struct {
	mu        sync.Mutex
	observers []*observer
	during    func(Event)
	states    []*state // started, in order
	last      map[*state]int64
	over      map[*state]bool // the node's own work has ended
	done      map[*state]bool // so has the work of all its readers
}

func newEvents(o RunOptions) *events {
	e := &events{during: o.during, last: map[*state]int64{}, over: map[*state]bool{}, done: map[*state]bool{}}
	for _, deliver := range o.Observers {
		e.observers = append(e.observers, &observer{deliver: deliver})
	}
	return e
}

func (e *events) observe(ev Event) {
	if e.during != nil {
		e.during(ev)
	}
	for _, o := range e.observers {
		o.take(ev)
	}
}

func (s *state) event(kind EventKind) Event {
	done, total := s.progress()
	t := &s.stats
	return Event{
		Time: time.Now(), Event: kind, Node: s.Name, Kind: s.Component.Kind, Done: done, Total: total,
		Computed: t.Computed.Load(), FromMemory: t.FromMemory.Load(), FromStore: t.FromStore.Load(), Failed: t.Failed.Load(),
	}
}

// progress returns how many samples the node has handled, and their total if
// known.
func (s *state) progress() (done, total int64) {
	t := &s.stats
	if total := t.Total.Load(); total > 0 {
		return t.Done.Load(), total
	}
	return t.Handed(), 0
}

func (e *events) started(s *state) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states = append(e.states, s)
	e.observe(s.event(NodeStarted))
}

func (e *events) failed(s *state, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev := s.event(RunError)
	ev.Message = display.Error(err)
	e.observe(ev)
}

// progress reports the nodes that have advanced since the last call.
func (e *events) progress() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.states {
		e.reportProgress(s)
	}
}

func (e *events) reportProgress(s *state) {
	if done, _ := s.progress(); done != e.last[s] && !e.done[s] {
		e.last[s] = done
		e.observe(s.event(NodeProgress))
	}
}

// ended reports the nodes that are done now that the own work of a node has
// ended. A node is done when all its readers have ended, because until then
// samples may be computed for them.
func (e *events) ended(s *state) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over[s] = true
	for _, n := range append(slices.Clone(s.inputs), s) {
		unread := !slices.ContainsFunc(n.readers, func(r *state) bool { return !e.over[r] })
		if e.over[n] && unread {
			e.reportDone(n)
		}
	}
}

// rest reports the end of the nodes whose end was not yet reported.
func (e *events) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.states {
		e.reportDone(s)
	}
}

func (e *events) reportDone(s *state) {
	e.reportProgress(s)
	if !e.done[s] {
		e.done[s] = true
		e.observe(s.event(NodeDone))
	}
}

// progressInterval limits observers to ten events per second and node.
const progressInterval = 100 * time.Millisecond

// watch reports progress until stop is called. stop then reports the end of
// every started node.
func (r *run) watch() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.events.progress()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		r.events.rest()
		waitForObservers(r.events.observers)
	}
}
