package objectstore

import (
	"context"
	"sync/atomic"
)

// Traffic counts requests to servers and the bytes received. It may be used by many
// goroutines.
type Traffic struct {
	Requests atomic.Int64 // including failed ones
	Bytes    atomic.Int64 // received, of files
	Retries  atomic.Int64 // repeated after a failure
	Hedges   atomic.Int64 // repeated while the first answer was late
}

type trafficKey struct{}

// Count returns a context whose traffic t counts.
func Count(ctx context.Context, t *Traffic) context.Context {
	return context.WithValue(ctx, trafficKey{}, t)
}

// TrafficOf returns the Traffic of ctx, or nil.
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
