package dataset

import (
	"context"
	"sync"
)

// A ctxMutex is a lock for slow owners: waiting for it can be canceled. The zero ctxMutex
// is unlocked, and allocates memory only while a goroutine waits, because each sample in
// progress has one.
type ctxMutex struct {
	mu       sync.Mutex
	locked   bool
	released chan struct{} // closed by unlock; nil if no goroutine waits
}

// tryLock locks m if it is unlocked, and reports whether it did.
func (m *ctxMutex) tryLock() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	unlocked := !m.locked
	m.locked = true
	return unlocked
}

// lock waits until it can lock m, or for the end of ctx.
func (m *ctxMutex) lock(ctx context.Context) error {
	for !m.tryLock() {
		select {
		case <-m.unlocked():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// unlocked returns a channel that is closed when m is unlocked.
func (m *ctxMutex) unlocked() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.locked {
		return free
	}
	if m.released == nil {
		m.released = make(chan struct{})
	}
	return m.released
}

// free is closed.
var free = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// unlock unlocks m.
func (m *ctxMutex) unlock() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.locked = false
	if m.released != nil {
		close(m.released)
		m.released = nil
	}
}
