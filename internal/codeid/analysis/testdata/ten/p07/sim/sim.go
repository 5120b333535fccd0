// Package sim is a simulator of discrete events.
package sim

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand"
	"time"
)

// An Event happens at a time.
type Event interface {
	Happen(*World) error
}

// EventFunc is a function as an Event.
type EventFunc func(*World) error

// Happen implements Event.
func (f EventFunc) Happen(w *World) error { return f(w) }

type item struct {
	at    time.Duration
	seq   int
	event Event
}

type queue []*item

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*item)) }
func (q *queue) Pop() any {
	old := *q
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return it
}

// A World is a simulation under way.
type World struct {
	Now   time.Duration
	Rand  *rand.Rand
	Steps int
	queue queue
	seq   int
	limit int
	log   *log.Logger
}

// Config says how to simulate.
type Config struct {
	Seed  int64
	Until time.Duration
	Limit int
}

// ErrStop ends a simulation early.
var ErrStop = errors.New("sim: stop")

// A LimitError says that there were too many events.
type LimitError struct{ Limit int }

func (e LimitError) Error() string { return fmt.Sprintf("sim: more than %d events", e.Limit) }

// New makes a world; the log may be nil.
func New(c Config, logTo io.Writer) *World {
	if logTo == nil {
		logTo = io.Discard
	}
	return &World{Rand: rand.New(rand.NewSource(c.Seed)), limit: c.Limit, log: log.New(logTo, "sim: ", 0)}
}

// After plans an event.
func (w *World) After(d time.Duration, e Event) {
	w.seq++
	heap.Push(&w.queue, &item{w.Now + max(d, 0), w.seq, e})
}

// Exp is an exponentially distributed time.
func (w *World) Exp(mean time.Duration) time.Duration {
	return time.Duration(w.Rand.ExpFloat64() * float64(mean))
}

// Logf logs with the time of the world.
func (w *World) Logf(format string, args ...any) {
	w.log.Printf("%8v "+format, append([]any{w.Now.Round(time.Millisecond)}, args...)...)
}

// Run runs until there are no events.
func (w *World) Run(until time.Duration) error {
	for w.queue.Len() > 0 {
		it := heap.Pop(&w.queue).(*item)
		if it.at > until {
			w.Now = until
			return nil
		}
		w.Now = it.at
		if w.Steps++; w.limit > 0 && w.Steps > w.limit {
			return LimitError{w.limit}
		}
		if err := it.event.Happen(w); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return fmt.Errorf("at %v: %w", w.Now, err)
		}
	}
	return nil
}
