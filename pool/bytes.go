package pool

import (
	"context"
	"math"
)

const defaultBytes = 512 << 20

// Reserve waits until bytes of memory are available, and counts them. If ctx belongs to a
// share ([Reservation]), they count until it ends; otherwise until the returned function is
// called, which may be called in any case. If ctx ends first, Reserve returns its cause.
//
// Bytes are available if they fit into the pool of ctx. Requests of shares that have
// bytes come first, so that these finish soon; otherwise the order is that of the
// requests. If all shares with bytes wait for bytes or for others ([Wait]), the first
// request is granted even if it does not fit. So a request larger than the bound runs
// alone, and no request waits for ever.
func Reserve(ctx context.Context, bytes int64) (done func(), err error) {
	s, ends := shareOf(ctx), func() {}
	if s == nil {
		s = &share{capacity: capacityOf(ctx)}
		ends = func() { s.end() }
	}
	if bytes <= 0 {
		return ends, context.Cause(ctx)
	}
	if err := s.capacity.take(ctx, s, bytes); err != nil {
		return nil, err
	}
	return ends, nil
}

// Reservation returns a context in which all bytes that are taken form one share, and a
// function that ends the share. A share is the memory of one computation with any
// number of goroutines. Within another share, Reservation extends that share, and end does
// nothing.
func Reservation(ctx context.Context) (inner context.Context, end func()) {
	if shareOf(ctx) != nil {
		return ctx, func() {}
	}
	s := &share{capacity: capacityOf(ctx)}
	return context.WithValue(ctx, shareKey{}, s), s.end
}

// Wait declares that the share of ctx ([Reservation]) waits for other tasks until the returned
// function is called. Those tasks may wait for bytes themselves, and must not wait for
// this share.
func Wait(ctx context.Context) (done func()) {
	s := shareOf(ctx)
	if s == nil {
		return func() {}
	}
	s.wait(1)
	return func() { s.wait(-1) }
}

// Context returns a context whose bytes count in the pool, for work outside of its
// slots. Work in slots has such a context.
func (p *Pool) Context(ctx context.Context) context.Context {
	if p == nil || p.capacity == nil || ctx.Value(within{}) != nil || shareOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, capacityKey{}, p.capacity)
}

type (
	capacityKey struct{}
	shareKey    struct{}
)

// anywhere is for contexts of no pool.
var anywhere = newCapacity(defaultBytes)

func capacityOf(ctx context.Context) *capacity {
	if r, ok := ctx.Value(capacityKey{}).(*capacity); ok {
		return r
	}
	return anywhere
}

func shareOf(ctx context.Context) *share {
	s, _ := ctx.Value(shareKey{}).(*share)
	return s
}

// maxBytes limits each request, so that sums do not overflow.
const maxBytes = math.MaxInt64 >> 20
