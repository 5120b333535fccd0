package flow

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
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

	mu   sync.Mutex
	used map[int]use // by sample
}

// use is one kept result that was handed out.
type use struct {
	record key.Key // under which it is kept
	action key.Key // by which it was asked for, if that is another
}

// manifestName names the manifest of a node, or of one of its outputs.
func (f *Flow) manifestName(place string) string { return f.id() + "#" + place }

// id names a flow on this machine.
func (f *Flow) id() string { return cmp.Or(f.File, filepath.Join(f.Dir, f.Name)) }

func newManifest(r *run, s *state, place string) *manifest {
	return &manifest{name: r.manifestName(place), pinned: s.eager, used: map[int]use{}}
}

// note is told of each kept result.
func (m *manifest) note(index int, record, action key.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := use{record: record}
	if action != record {
		u.action = action
	}
	m.used[index] = u
}

// saveManifests writes the manifests of the nodes that kept something. After a
// run that did not end well, samples it did not come to keep their old entry.
func (r *run) saveManifests(ctx context.Context, complete bool) error {
	if r.Larder == nil {
		return nil
	}
	for _, s := range r.states {
		for _, m := range s.manifest {
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

func (m *manifest) save(ctx context.Context, s store.Manifests, complete bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.used) == 0 {
		return nil
	}
	if old, err := s.Manifest(ctx, m.name); err == nil && !complete {
		for i, u := range usesOf(old) {
			if _, ok := m.used[i]; !ok {
				m.used[i] = u
			}
		}
	}
	return s.PutManifest(ctx, m.encode())
}

// encode lists the records of the samples that were used, each with the action
// after it if that is another, and in the note which samples these are: twice the
// distances between their positions, and one more where there is an action, as
// unsigned varints. Few samples of very many take little room.
func (m *manifest) encode() store.Manifest {
	out := store.Manifest{Name: m.name, Pinned: m.pinned}
	before := 0
	for _, i := range slices.Sorted(maps.Keys(m.used)) {
		u, distance := m.used[i], 2*uint64(i-before)
		out.Keys = append(out.Keys, u.record)
		if !u.action.IsZero() {
			out.Keys = append(out.Keys, u.action)
			distance++
		}
		out.Note = binary.AppendUvarint(out.Note, distance)
		before = i
	}
	return out
}

// usesOf reads what encode wrote, by sample. What is damaged is left out: it
// only costs an explanation.
func usesOf(m store.Manifest) map[int]use {
	used := make(map[int]use, len(m.Keys))
	at, note, keys := uint64(0), m.Note, m.Keys
	for len(keys) > 0 {
		distance, n := binary.Uvarint(note)
		if n <= 0 || distance%2 == 1 && len(keys) < 2 {
			break
		}
		at, note = at+distance/2, note[n:]
		u := use{record: keys[0]}
		if keys = keys[1:]; distance%2 == 1 {
			u.action, keys = keys[0], keys[1:]
		}
		used[int(at)] = u
	}
	return used
}
