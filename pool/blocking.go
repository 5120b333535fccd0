package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds on the tasks of a pool that have released their slots.
const (
	maxParked      = 64       // about as many connections as the services' own tools open
	maxParkedBytes = 64 << 20 // more than most networks transfer during one request
	maxTrips       = 3        // round trips for each slot: that many more may compute for a moment
)

// Blocking releases the slot of ctx while its task waits for bytes from another machine,
// until the returned function is called. The pass continues with further elements,
// until 64 tasks of a pool wait, or they wait for 64 MiB together. A task that is in a
// pass within a slot keeps the slot.
//
// A task takes its slot back without waiting, because tasks with slots may wait for its
// data. So more tasks than slots may run until the next ones finish: what follows should
// not take long.
func Blocking(ctx context.Context, bytes int64) (resume func()) {
	t, _ := ctx.Value(within{}).(*slotLease)
	if t == nil || !t.park(bytes) {
		return func() {}
	}
	return t.unpark
}

// RoundTrip declares that the task waits for a request to another machine until the returned
// function is called. The request is for all elements that a worker took, such as a lookup of
// their keys. Workers do not take fewer elements because of the time that it takes.
//
// Like [Blocking] it may release the slot, but elements may be computed after it. So only as
// many tasks release theirs as it takes to use the slots: none if elements take much longer
// than round trips.
func RoundTrip(ctx context.Context, bytes int64) (end func()) {
	resume := func() {}
	if t, _ := ctx.Value(within{}).(*slotLease); t != nil && t.slots.idle() && t.park(bytes) {
		resume = t.unpark
	}
	waits, _ := ctx.Value(waitsKey{}).(*atomic.Int64)
	if waits == nil {
		return resume
	}
	start := time.Now()
	return func() {
		resume()
		waits.Add(int64(time.Since(start)))
	}
}

// slots are those of a pool, or of one pass of a nil Pool.
type slots struct {
	n    int
	free *semaphore.Weighted

	mu            sync.Mutex
	recent        durations // of the last takes, with later ones weighing more
	parked        int       // tasks that released their slots
	bytes         int64     // bytes that these wait for
	retained      int       // slots reserved for tasks beyond the bounds
	overcommitted int       // slots taken back while none was free
}

func newSlots(n int) *slots { return &slots{n: n, free: semaphore.NewWeighted(int64(n))} }

// observe records the durations of a take.
func (s *slots) observe(d durations) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.took += (d.took - s.recent.took) / 4
	s.recent.waited += (d.waited - s.recent.waited) / 4
}

// idle reports whether so few tasks wait that slots would be idle if one more task retained
// its slot: the recent ones waited for waited/took times as long as they computed.
func (s *slots) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parked < maxTrips*s.n && int64(s.parked+1)*int64(s.recent.took) < int64(s.n)*int64(s.recent.waited)
}

// begin waits for a slot, or until ctx ends, and then returns its cause. The returned
// context holds the slot until end is called. With nil slots it is ctx.
//
// Tasks with slots may wait for the bytes of the task that waits here.
func (s *slots) begin(ctx context.Context, c *workerGroup) (inner context.Context, end func(), err error) {
	if s == nil {
		return ctx, func() {}, context.Cause(ctx)
	}
	if err := s.take(ctx); err != nil {
		return nil, nil, err
	}
	t := &slotLease{slots: s, workers: c}
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
	if s.overcommitted > 0 {
		s.overcommitted--
		return
	}
	s.free.Release(1)
}

func (s *slots) park(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked, s.bytes = s.parked+1, s.bytes+bytes
	if s.parked > maxParked || s.parked > 1 && s.bytes > maxParkedBytes {
		s.retained++
		return
	}
	s.release()
}

// unpark takes a slot back immediately: a free one, or the next that is released.
func (s *slots) unpark(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked, s.bytes = s.parked-1, s.bytes-bytes
	switch {
	case s.retained > 0:
		s.retained--
	case !s.free.TryAcquire(1):
		s.overcommitted++
	}
}

// A slotLease is the use of a slot. Its work may outlive it, if other tasks wait for that
// work, too.
type slotLease struct {
	slots   *slots
	workers *workerGroup // nil if no worker replaces this one

	mu            sync.Mutex
	parked, ended bool
	bytes         int64 // bytes that it waits for
}

// park reports whether the slot was released.
func (t *slotLease) park(bytes int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parked || t.ended {
		return false
	}
	t.parked, t.bytes = true, bytes
	t.slots.park(bytes)
	t.workers.workerParked()
	return true
}

func (t *slotLease) unpark() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parked {
		t.resume()
	}
}

// resume takes a slot back. The caller holds the lock.
func (t *slotLease) resume() {
	t.parked = false
	t.slots.unpark(t.bytes)
	t.workers.workerResumed()
}

func (t *slotLease) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parked {
		t.resume()
	}
	t.ended = true
	t.slots.give()
}

// A workerGroup is the workers of a pass: one for each slot, and one for each task that
// released its slot.
type workerGroup struct {
	workers int

	mu           sync.Mutex // also guards the work, so that no worker ends while another leaves work to it
	changed      sync.Cond  // unstarted or live changed
	live, parked int
	unstarted    int // live workers that are not started yet
	broken       bool
}

// run starts workers for n elements and waits until the last has ended. It also starts
// the workers that replace those that wait: a goroutine inherits the labels of the
// one that starts it, which say what it works for (package internal/proc/singleflight).
func (c *workerGroup) run(n int, start func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.L = &c.mu
	c.live = min(c.workers, n)
	c.unstarted = c.live
	for c.live > 0 {
		for ; c.unstarted > 0; c.unstarted-- {
			start()
		}
		c.changed.Wait()
	}
}

// workerParked requests another worker in place of one that waits in [Blocking].
func (c *workerGroup) workerParked() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parked++
	if c.live < c.workers+c.parked {
		c.live++
		c.unstarted++
		c.changed.Signal()
	}
}

func (c *workerGroup) workerResumed() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parked--
}

// work runs do on what take returns, until there is nothing to do or there are too many
// workers. It always records the end of the worker.
func (c *workerGroup) work(take func() (span, bool), do func(span) error) (err error) {
	noted := false
	defer func() {
		if !noted {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.broken = c.broken || err == nil // nothing was returned: do ended its goroutine
			c.removeWorker()
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
func (c *workerGroup) next(take func() (span, bool)) (t span, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live <= c.workers+c.parked {
		if t, ok = take(); ok {
			return t, true
		}
	}
	c.removeWorker()
	return t, false
}

// removeWorker counts a worker out. The caller holds the lock.
func (c *workerGroup) removeWorker() {
	c.live--
	c.changed.Signal()
}
