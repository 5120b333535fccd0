package pool

import (
	"context"
	"math"
)

// defaultBytes is how many bytes may be in use at once in a pool that was not told
// how many.
const defaultBytes = 512 << 20

// Take waits until so many bytes may be taken into memory, and counts them until the
// share ends that ctx belongs to ([Hold]), or else until what it returns is called,
// which may be called in any case. If ctx ends before, it returns its cause.
//
// They may be taken if they fit beside what is in use in the pool of ctx. Those who
// have bytes come before those who have none, so that they are soon done; else the
// first that asked is the first that gets. Where all who have bytes wait, for bytes or
// for others ([Wait]), the first gets what it asks for, fit or not: so what is larger
// than the bound goes alone, and nobody waits for ever.
func Take(ctx context.Context, bytes int64) (done func(), err error) {
	s, ends := shareOf(ctx), func() {}
	if s == nil {
		s = &share{room: roomOf(ctx)}
		ends = func() { s.end() }
	}
	if bytes <= 0 {
		return ends, context.Cause(ctx)
	}
	if err := s.room.take(ctx, s, bytes); err != nil {
		return nil, err
	}
	return ends, nil
}

// Hold returns a context in which all bytes that are taken belong together, and what
// ends that: they are what one computation works on, however many goroutines it has.
// Within another such context it is a part of that one, and its end does nothing.
func Hold(ctx context.Context) (inner context.Context, end func()) {
	if shareOf(ctx) != nil {
		return ctx, func() {}
	}
	s := &share{room: roomOf(ctx)}
	return context.WithValue(ctx, shareKey{}, s), s.end
}

// Wait says that who has the bytes of ctx ([Hold]) waits for others until what it
// returns is called: these may wait for bytes themselves, and are not to wait for it.
func Wait(ctx context.Context) (done func()) {
	s := shareOf(ctx)
	if s == nil {
		return func() {}
	}
	s.wait(1)
	return func() { s.wait(-1) }
}

// Context returns a context in which bytes are taken of those of the pool, also where
// no slot of it is: what is done in its slots does so anyway.
func (p *Pool) Context(ctx context.Context) context.Context {
	if p == nil || p.room == nil || ctx.Value(within{}) != nil || shareOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, roomKey{}, p.room)
}

type (
	roomKey  struct{}
	shareKey struct{}
)

// anywhere is for contexts of no pool.
var anywhere = newRoom(defaultBytes)

func roomOf(ctx context.Context) *room {
	if r, ok := ctx.Value(roomKey{}).(*room); ok {
		return r
	}
	return anywhere
}

func shareOf(ctx context.Context) *share {
	s, _ := ctx.Value(shareKey{}).(*share)
	return s
}

// mostBytes is what any request is cut to, so that sums do not overflow.
const mostBytes = math.MaxInt64 >> 20
