package pool

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// mostAway are away at once in a pool: about as many connections as tools of the services open
// to read what lies there.
const mostAway = 64

// Away says that who has the slot of ctx waits for another machine, until what it returns is
// called. Meanwhile the slot is somebody else's, and the pass goes on with further elements, until
// 64 of a pool are away. Who is in a pass within a slot keeps it.
//
// Nobody waits to be back, as those who have the slots may wait for what came: until the next ones
// are done, more is done at once than there are slots.
func Away(ctx context.Context) (back func()) {
	t, _ := ctx.Value(within{}).(*turn)
	if t == nil || !t.leave() {
		return func() {}
	}
	return t.back
}

// slots are those of a pool, or of one pass of a pool that nobody shares.
type slots struct {
	free *semaphore.Weighted

	mu   sync.Mutex
	away int // who gave theirs away
	kept int // slots of those beyond mostAway, which nobody has
	owed int // by those who came back while no slot was free
}

func newSlots(n int) *slots { return &slots{free: semaphore.NewWeighted(int64(n))} }

// begin waits for a slot, or for the end of ctx, whose cause it returns then. The slot is had in
// the context that it returns, until end is called. Of no slots it is ctx.
//
// Who has slots may wait for the bytes of who takes one.
func (s *slots) begin(ctx context.Context, c *crew) (inner context.Context, end func(), err error) {
	if s == nil {
		return ctx, func() {}, context.Cause(ctx)
	}
	if err := s.take(ctx); err != nil {
		return nil, nil, err
	}
	t := &turn{slots: s, crew: c}
	return context.WithValue(ctx, within{}, t), t.end, nil
}

func (s *slots) take(ctx context.Context) error {
	if !s.free.TryAcquire(1) {
		defer Wait(ctx)()
		if s.free.Acquire(ctx, 1) != nil {
			return context.Cause(ctx)
		}
	}
	if err := context.Cause(ctx); err != nil {
		s.give()
		return err
	}
	return nil
}

func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
}

// release gives a slot. The lock is held.
func (s *slots) release() {
	if s.owed > 0 {
		s.owed--
		return
	}
	s.free.Release(1)
}

func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away++; s.away > mostAway {
		s.kept++
		return
	}
	s.release()
}

// come takes a slot at once: if there is none, the next one that is given.
func (s *slots) come() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away--
	switch {
	case s.kept > 0:
		s.kept--
	case !s.free.TryAcquire(1):
		s.owed++
	}
}

// A turn is that of who has a slot. What is done in it may outlive it, as others wait for that,
// too.
type turn struct {
	slots *slots
	crew  *crew // nil: nobody else goes on with anything

	mu          sync.Mutex
	gone, ended bool
}

// leave reports whether the slot was given away.
func (t *turn) leave() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone || t.ended {
		return false
	}
	t.gone = true
	t.slots.leave()
	t.crew.left()
	return true
}

func (t *turn) back() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		t.come()
	}
}

// come takes a slot again. The lock is held.
func (t *turn) come() {
	t.gone = false
	t.slots.come()
	t.crew.came()
}

func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		t.come()
	}
	t.ended = true
	t.slots.give()
}

// A crew is the workers of a pass: as many as there are slots, and one for each who is away.
type crew struct {
	workers int
	start   func() // has another one begin

	mu         sync.Mutex // also of what there is to do, so that nobody leaves that to who has left
	live, away int
}

// begin starts the first workers, of elements that are so many.
func (c *crew) begin(n int) {
	c.live = min(c.workers, n)
	for range c.live {
		c.start()
	}
}

// left has another one begin, as one is away.
func (c *crew) left() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away++
	if c.live < c.workers+c.away {
		c.live++
		c.start()
	}
}

func (c *crew) came() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away--
}

// next returns what a worker does next: false, and it ends, if that is nothing, or if there are
// more workers than are needed. The lock is held.
func (c *crew) next(take func() (span, bool)) (t span, ok bool) {
	if c.live <= c.workers+c.away {
		if t, ok = take(); ok {
			return t, true
		}
	}
	c.live--
	return t, false
}
