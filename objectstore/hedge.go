package objectstore

import (
	"context"
	"errors"
	"time"
)

// late returns a channel that receives after some time, unless it is stopped. Tests replace
// it.
var late = func(d time.Duration) (at <-chan time.Time, stop func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}

// begin requests the rest. If no answer begins in the time in which nearly all answers of
// this host did, it sends a second request. The first answer is used, and the other request
// is cancelled. This is a hedged request (Dean and Barroso, "The Tail at Scale",
// Communications of the ACM 56(2), 2013).
func (r *Reader) begin(ctx context.Context) (Body, error) {
	h := hostOf(r.of.url)
	began := time.Now()
	body, err := r.race(ctx, h)
	if !mayPass(err) && ctx.Err() == nil {
		h.answered(time.Since(began)) // even if the second request won: the first took longer
	}
	return body, err
}

// race returns the first answer of one or two requests.
func (r *Reader) race(ctx context.Context, h *host) (Body, error) {
	patience, ok := h.patience()
	if !ok || r.of.Whole { // each request of such a file reads everything before the part
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
				continue // the other one may succeed
			}
			r.decide(&q, a)
			return a.body, a.err
		}
	}
}

// requests holds the requests for one part.
type requests struct {
	ends    []context.CancelFunc // one per request
	answers chan answer          // has capacity for all
	open    int                  // not answered yet
}

// An answer is the result of a driver.
type answer struct {
	from int // index in ends
	body Body
	err  error
}

// send sends a request in a goroutine.
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

// decide cancels all requests except the one whose answer is read, which ends with its
// body.
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
	if e, ok := errors.AsType[*RetryableError](err); ok && e.Busy {
		h.overworked()
	}
	return body, err
}

// mayPass reports whether a retry may fix the error.
func mayPass(err error) bool {
	_, ok := errors.AsType[*RetryableError](err)
	return ok
}
