// Package lease provides exclusive leases of keys among the goroutines of one process.
package lease

import (
	"context"
	"slices"
	"sync"

	"github.com/larder-data/larder/key"
)

// A Table leases keys. The zero Table is ready for use by many goroutines.
type Table struct {
	mu    sync.Mutex
	slots map[key.Key]*slot
}

// A slot exists while a caller holds or waits for its key.
type slot struct {
	held   chan struct{} // full while the key is leased; nil until a second caller wants it
	leased bool          // leased without waiting, without held
	users  int
} // guarded by Table.mu, except the contents of held

// Acquire leases k to the caller; while another caller holds it, Acquire waits until ctx
// ends. The returned release may be called more than once.
func (t *Table) Acquire(ctx context.Context, k key.Key) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := t.enter(k)
	select {
	case s.held <- struct{}{}:
		return sync.OnceFunc(func() {
			<-s.held
			t.leave(k, s)
		}), nil
	case <-ctx.Done():
		t.leave(k, s)
		return nil, ctx.Err()
	}
}

// TryAcquire leases to the caller those of the keys that no caller holds or waits for. It
// does not wait. The returned release ends these leases.
func (t *Table) TryAcquire(keys []key.Key) (leased []bool, release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slots == nil {
		t.slots = make(map[key.Key]*slot, len(keys))
	}
	leased = make([]bool, len(keys))
	buffer := make([]slot, len(keys))
	for i, k := range keys {
		if t.slots[k] == nil {
			buffer[i] = slot{leased: true, users: 1}
			t.slots[k], leased[i] = &buffer[i], true
		}
	}
	own := slices.Clone(leased) // the caller may change its slice
	return leased, sync.OnceFunc(func() { t.leaveAll(keys, own) })
}

// leaveAll ends the leases of the keys that leased marks.
func (t *Table) leaveAll(keys []key.Key, leased []bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, k := range keys {
		if !leased[i] {
			continue
		}
		s := t.slots[k]
		if s.held != nil {
			<-s.held
		}
		if s.users--; s.users == 0 {
			delete(t.slots, k)
		}
	}
}

func (t *Table) enter(k key.Key) *slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slots[k]
	if s == nil {
		if t.slots == nil {
			t.slots = make(map[key.Key]*slot)
		}
		s = &slot{}
		t.slots[k] = s
	}
	if s.held == nil {
		s.held = make(chan struct{}, 1)
		if s.leased {
			s.held <- struct{}{}
		}
	}
	s.users++
	return s
}

func (t *Table) leave(k key.Key, s *slot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(t.slots, k)
	}
}
