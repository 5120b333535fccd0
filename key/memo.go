package key

import "sync"

// NewMemo returns a memo in memory that holds the given number of most recently used
// files, at least 2.
func NewMemo(files int) Memo {
	return &memo{half: max(files/2, 1), young: map[FileStat]Digest{}}
}

// memo has two generations. When the young one is full it replaces the old one, and
// files that were not used since are evicted.
type memo struct {
	mu         sync.Mutex
	half       int
	young, old map[FileStat]Digest
}

func (m *memo) Load(s FileStat) (Digest, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.young[s]
	if ok {
		return d, true
	}
	if d, ok = m.old[s]; ok {
		m.put(s, d)
	}
	return d, ok
}

func (m *memo) Store(s FileStat, d Digest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(s, d)
}

func (m *memo) put(s FileStat, d Digest) {
	if len(m.young) >= m.half {
		m.young, m.old = map[FileStat]Digest{}, m.young
	}
	m.young[s] = d
}
