package flow

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A manifest lists what a node used of the store: for each sample the key that
// its result is kept under, and the key by which it is asked for where that is
// another. It pins checkpoints, and tells later what a sample was made from
// the last time.
type manifest struct {
	name   string
	pinned bool

	mu      sync.Mutex
	records []key.Key // by sample; zero where none was asked for
	actions []key.Key
	touched bool
}

// manifestName names the manifest of a node, or of one of its outputs.
func (f *Flow) manifestName(place string) string { return f.File + "#" + place }

func newManifest(r *run, s *state, place string, samples int) *manifest {
	return &manifest{
		name: r.manifestName(place), pinned: s.eager,
		records: make([]key.Key, samples), actions: make([]key.Key, samples),
	}
}

// note is told of each kept result.
func (m *manifest) note(index int, record, action key.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[index], m.touched = record, true
	if action != record {
		m.actions[index] = action
	}
}

// saveManifests writes the manifests of the nodes that kept something. After a
// run that did not end well, samples it did not come to keep their old entry.
func (r *run) saveManifests(ctx context.Context, complete bool) error {
	if r.Larder == nil {
		return nil
	}
	for _, s := range r.states {
		for _, m := range s.manifest {
			if !m.touched {
				continue
			}
			if err := m.save(ctx, r.Larder.Store(), complete); err != nil {
				if errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrFull) {
					continue // results pass through; so does what would pin them
				}
				return fmt.Errorf("node %s: %w", s.Name, err)
			}
		}
	}
	return nil
}

func (m *manifest) save(ctx context.Context, s store.Store, complete bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.records)
	if !complete {
		old, err := s.Manifest(ctx, m.name)
		if err == nil && len(old.Keys) == 2*n {
			for i := range n {
				if m.records[i].IsZero() {
					m.records[i], m.actions[i] = old.Keys[i], old.Keys[n+i]
				}
			}
		}
	}
	keys := append(append(make([]key.Key, 0, 2*n), m.records...), m.actions...)
	return s.PutManifest(ctx, store.Manifest{Name: m.name, Pinned: m.pinned, Keys: keys})
}

// lastRecord returns the key under which the result of a sample was kept the
// last time, or a zero key.
func lastRecord(m store.Manifest, index int) key.Key {
	if index < len(m.Keys)/2 {
		return m.Keys[index]
	}
	return key.Key{}
}
