package place

import (
	"context"
	"errors"
	"time"
)

// late has a channel receive after some time, unless it is stopped. Tests say when.
var late = func(d time.Duration) (at <-chan time.Time, stop func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}

// begin asks for what is left, and once more if no answer begins in the time in which nearly
// all of this host did: the first answer counts, and the other request is ended. That is a
// hedged request of Dean and Barroso, "The Tail at Scale", Communications of the ACM 56(2), 2013.
func (r *Reader) begin(ctx context.Context) (Body, error) {
	h := hostOf(r.of.url)
	began := time.Now()
	body, err := r.race(ctx, h)
	if !mayPass(err) && ctx.Err() == nil {
		h.answered(time.Since(began)) // also where the second request won: the first took longer
	}
	return body, err
}

// race returns the first answer of one request or two.
func (r *Reader) race(ctx context.Context, h *host) (Body, error) {
	patience, ok := h.patience()
	if !ok || r.of.Whole { // of which all that lies before is read until there is an answer
		return r.ask(ctx, h)
	}
	q := requests{answers: make(chan answer, 2)}
	r.send(ctx, h, &q)
	lateAt, stop := late(patience)
	defer stop()
	for {
		select {
		case <-lateAt:
			if h.mayRepeat() {
				TrafficOf(ctx).hedge()
				r.send(ctx, h, &q)
			}
		case a := <-q.answers:
			q.open--
			if q.open > 0 && mayPass(a.err) {
				continue // the other one may do better
			}
			r.decide(&q, a)
			return a.body, a.err
		}
	}
}

// requests are those for one part.
type requests struct {
	ends    []context.CancelFunc // each
	answers chan answer          // has room for all
	open    int                  // have no answer yet
}

// An answer is what a driver returned.
type answer struct {
	from int // in ends
	body Body
	err  error
}

// send asks beside who waits for the answer.
func (r *Reader) send(ctx context.Context, h *host, q *requests) {
	ctx, end := context.WithCancel(ctx)
	from := len(q.ends)
	q.ends = append(q.ends, end)
	q.open++
	r.asking.Go(func() {
		body, err := r.ask(ctx, h)
		q.answers <- answer{from, body, err}
	})
}

// decide ends the requests but the one whose answer is read, which ends with its body.
func (r *Reader) decide(q *requests, won answer) {
	for from, end := range q.ends {
		if from != won.from || won.err != nil {
			end()
		}
	}
	for range q.open {
		r.asking.Go(func() {
			if a := <-q.answers; a.body != nil {
				_ = a.body.Close()
			}
		})
	}
}

// ask sends one request.
func (r *Reader) ask(ctx context.Context, h *host) (Body, error) {
	TrafficOf(ctx).add(1, 0)
	body, err := r.of.driver.Read(ctx, r.of.url, r.of.Version, r.at, r.end-r.at)
	if e, ok := errors.AsType[*AgainError](err); ok && e.Busy {
		h.overworked()
	}
	return body, err
}

// mayPass reports whether what failed is worth another try.
func mayPass(err error) bool {
	_, ok := errors.AsType[*AgainError](err)
	return ok
}
