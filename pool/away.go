package pool

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Bounds on who is away at once in a pool.
const (
	mostAway      = 64       // about as many connections as tools of the services open to read what lies there
	mostAwayBytes = 64 << 20 // more than comes of most networks while a request is answered
)

// Away says that who has the slot of ctx waits for so many bytes of another machine, until what it
// returns is called. Meanwhile the slot is somebody else's, and the pass goes on with further
// elements, until 64 of a pool are away, or wait for 64 MiB together. Who is in a pass within a
// slot keeps it.
//
// Nobody waits to be back, as those who have the slots may wait for what came: until the next ones
// are done, more is done at once than there are slots.
func Away(ctx context.Context, bytes int64) (back func()) {
	t, _ := ctx.Value(within{}).(*turn)
	if t == nil || !t.leave(bytes) {
		return func() {}
	}
	return t.back
}

// slots are those of a pool, or of one pass of a pool that nobody shares.
type slots struct {
	free *semaphore.Weighted

	mu    sync.Mutex
	away  int   // who gave theirs away
	bytes int64 // that these wait for
	kept  int   // slots of those beyond the bounds, which nobody has
	owed  int   // by those who came back while no slot was free
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

func (s *slots) leave(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.bytes = s.away+1, s.bytes+bytes
	if s.away > mostAway || s.away > 1 && s.bytes > mostAwayBytes {
		s.kept++
		return
	}
	s.release()
}

// come takes a slot at once: if there is none, the next one that is given.
func (s *slots) come(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.bytes = s.away-1, s.bytes-bytes
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
	bytes       int64 // that are waited for
}

// leave reports whether the slot was given away.
func (t *turn) leave(bytes int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone || t.ended {
		return false
	}
	t.gone, t.bytes = true, bytes
	t.slots.leave(bytes)
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
	t.slots.come(t.bytes)
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

	mu         sync.Mutex // also of what there is to do, so that nobody leaves that to who has left
	changed    sync.Cond  // due or live did
	live, away int
	due        int // of those that live: are still to be started
	broken     bool
}

// run starts workers of elements that are so many, until the last has ended. They are started
// here, also those that take the place of one who is away: a goroutine has the labels of the one
// that starts it, which tell what it works for (package internal/proc/singleflight).
func (c *crew) run(n int, start func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.L = &c.mu
	c.live = min(c.workers, n)
	c.due = c.live
	for c.live > 0 {
		for ; c.due > 0; c.due-- {
			start()
		}
		c.changed.Wait()
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
		c.due++
		c.changed.Signal()
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

// work has a worker do what it takes, until there is nothing, or there are more workers than are
// needed. However it ends, it is noted.
func (c *crew) work(take func() (span, bool), do func(span) error) (err error) {
	noted := false
	defer func() {
		if !noted {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.broken = c.broken || err == nil // nothing was returned, so its goroutine was ended
			c.less()
		}
	}()
	for {
		t, ok := c.next(take)
		if noted = !ok; noted {
			return nil
		}
		if err = do(t); err != nil {
			return err
		}
	}
}

// next returns what a worker does next: false, and it is one no more, if that is nothing.
func (c *crew) next(take func() (span, bool)) (t span, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live <= c.workers+c.away {
		if t, ok = take(); ok {
			return t, true
		}
	}
	c.less()
	return t, false
}

// less says that a worker ends. The lock is held.
func (c *crew) less() {
	c.live--
	c.changed.Signal()
}
