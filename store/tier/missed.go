package tier

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

const (
	missedFor = time.Second // how long GetWithoutRefresh skips keys that far did not have
	missedMay = 1024        // a power of 2
)

// missed remembers keys that far did not have a moment ago. A caller looks up a key several
// times before it computes the result, and each lookup would be a request to another
// machine.
type missed struct {
	mu    sync.Mutex
	slots [missedMay]struct {
		key key.Key
		at  time.Time
	}
}

func slotOf(k key.Key) uint64 { return binary.LittleEndian.Uint64(k[len(k)-8:]) % missedMay }

// note records the outcome of a lookup of keys.
func (m *missed) note(keys []key.Key, found []store.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for i, k := range keys {
		s := &m.slots[slotOf(k)]
		switch {
		case found[i].Key.IsZero():
			s.key, s.at = k, now
		case s.key == k:
			s.key = key.Key{}
		}
	}
}

// forget removes the keys of records, which are no longer missing.
func (m *missed) forget(records []store.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range records {
		if s := &m.slots[slotOf(records[i].Key)]; s.key == records[i].Key {
			s.key = key.Key{}
		}
	}
}

func (m *missed) lately(k key.Key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.slots[slotOf(k)]
	return s.key == k && time.Since(s.at) < missedFor
}
