package place

import (
	"context"
	"sync/atomic"
)

// Traffic counts what is asked of servers and what comes. It may be used by many goroutines.
type Traffic struct {
	Requests atomic.Int64 // also those that failed
	Bytes    atomic.Int64 // of files, that came
	Retries  atomic.Int64 // what was tried once more
	Hedges   atomic.Int64 // what was asked for a second time while the first answer was late
}

type trafficKey struct{}

// Count returns a context under which t counts.
func Count(ctx context.Context, t *Traffic) context.Context {
	return context.WithValue(ctx, trafficKey{}, t)
}

// TrafficOf returns what counts under ctx, or nil.
func TrafficOf(ctx context.Context) *Traffic {
	t, _ := ctx.Value(trafficKey{}).(*Traffic)
	return t
}

func (t *Traffic) add(requests, bytes int64) {
	if t != nil {
		t.Requests.Add(requests)
		t.Bytes.Add(bytes)
	}
}

func (t *Traffic) retry() {
	if t != nil {
		t.Retries.Add(1)
	}
}

func (t *Traffic) hedge() {
	if t != nil {
		t.Hedges.Add(1)
	}
}
