package pool

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Bounds on the tasks of a pool that have released their slots.
const (
	maxAway      = 64       // about as many connections as the services' own tools open
	maxAwayBytes = 64 << 20 // more than most networks transfer during one request
)

// Blocking releases the slot of ctx while its task waits for bytes from another machine,
// until the returned function is called. The pass continues with further elements,
// until 64 tasks of a pool are away or wait for 64 MiB together. A task that is in a
// pass within a slot keeps the slot.
//
// A task takes its slot back without waiting, because tasks with slots may wait for its
// data. So more tasks than slots may run until the next ones finish.
func Blocking(ctx context.Context, bytes int64) (back func()) {
	t, _ := ctx.Value(within{}).(*turn)
	if t == nil || !t.leave(bytes) {
		return func() {}
	}
	return t.back
}

// slots are those of a pool, or of one pass of a nil Pool.
type slots struct {
	free *semaphore.Weighted

	mu       sync.Mutex
	away     int   // tasks that released their slots
	bytes    int64 // bytes that these wait for
	retained int   // slots kept back for tasks beyond the bounds
	owed     int   // slots taken back while none was free
}

func newSlots(n int) *slots { return &slots{free: semaphore.NewWeighted(int64(n))} }

// begin waits for a slot, or until ctx ends, and then returns its cause. The returned
// context holds the slot until end is called. With nil slots it is ctx.
//
// Tasks with slots may wait for the bytes of the task that waits here.
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

// release releases a slot. The caller holds the lock.
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
	if s.away > maxAway || s.away > 1 && s.bytes > maxAwayBytes {
		s.retained++
		return
	}
	s.release()
}

// come takes a slot back immediately: a free one, or the next that is released.
func (s *slots) come(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.bytes = s.away-1, s.bytes-bytes
	switch {
	case s.retained > 0:
		s.retained--
	case !s.free.TryAcquire(1):
		s.owed++
	}
}

// A turn is the use of a slot. Its work may outlive it, if other tasks wait for that
// work, too.
type turn struct {
	slots *slots
	crew  *crew // nil if no worker replaces this one

	mu          sync.Mutex
	gone, ended bool
	bytes       int64 // bytes that it waits for
}

// leave reports whether the slot was released.
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

// come takes a slot back. The caller holds the lock.
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

// A crew is the workers of a pass: one for each slot, and one for each task that is
// away.
type crew struct {
	workers int

	mu         sync.Mutex // also guards the work, so that no worker ends while another leaves work to it
	changed    sync.Cond  // due or live changed
	live, away int
	due        int // live workers that are not started yet
	broken     bool
}

// run starts workers for n elements and waits until the last has ended. It also starts
// the workers that replace those that are away: a goroutine inherits the labels of the
// one that starts it, which say what it works for (package internal/proc/singleflight).
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

// left requests another worker, because one is away.
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

// work runs do on what take returns, until there is nothing to do or there are too many
// workers. It always records the end of the worker.
func (c *crew) work(take func() (span, bool), do func(span) error) (err error) {
	noted := false
	defer func() {
		if !noted {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.broken = c.broken || err == nil // nothing was returned: do ended its goroutine
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

// next returns the next work of a worker. It returns false, and counts the worker out,
// if there is none.
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

// less counts a worker out. The caller holds the lock.
func (c *crew) less() {
	c.live--
	c.changed.Signal()
}
