package flow

import (
	"slices"
	"sync"
	"time"
)

// An observer receives events in a goroutine of its own, so that it blocks only
// itself.
type observer struct {
	deliver func(Event)

	mu         sync.Mutex
	queue      []Event       // not yet delivered; at most one progress event per node, so it is bounded
	delivering chan struct{} // closed when the queue is delivered; nil if idle
}

// take queues an event. It replaces a queued progress event of the same node.
func (o *observer) take(ev Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ev.Event == NodeProgress {
		o.queue = slices.DeleteFunc(o.queue, func(q Event) bool { return q.Event == NodeProgress && q.Node == ev.Node })
	}
	o.queue = append(o.queue, ev)
	if o.delivering == nil {
		o.delivering = make(chan struct{})
		go o.deliverAll()
	}
}

func (o *observer) deliverAll() {
	for ev, ok := o.next(); ok; ev, ok = o.next() {
		o.deliver(ev)
	}
}

func (o *observer) next() (ev Event, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		close(o.delivering)
		o.delivering = nil
		return ev, false
	}
	ev = o.queue[0]
	o.queue = o.queue[1:]
	return ev, true
}

// notification returns a channel that is closed when all events are delivered, or nil
// if they are.
func (o *observer) notification() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.delivering
}

// observersPatience is how long a run that has ended waits for its observers.
const observersPatience = 5 * time.Second

// waitForObservers waits until observers have received all events, or the time limit
// ends.
func waitForObservers(observers []*observer) {
	late := time.NewTimer(observersPatience)
	defer late.Stop()
	for _, o := range observers {
		notification := o.notification()
		if notification == nil {
			continue
		}
		select {
		case <-notification:
		case <-late.C:
			return
		}
	}
}
