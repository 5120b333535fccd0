package flow

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/zeebo/xxh3"
)

// A manifest lists what a node used of the store. For each sample it has the
// key of the stored result, and the key of the request where that differs. It
// pins checkpoints, and lets later runs report what a sample was computed from.
type manifest struct {
	name   string
	pinned bool

	mu   sync.Mutex
	used uses

	copied []component.Copy // samples not requested, because the output written from them is reused
	was    [16]byte         // sum of the manifest that lists these
	sum    [16]byte         // sum of the saved manifest; zero if there is none
	lost   bool             // saving it failed
}

// manifestName returns the name of the manifest of a node, or of one of its
// outputs.
func (f *Flow) manifestName(place string) string { return f.id() + "#" + place }

// id identifies a flow on this machine.
func (f *Flow) id() string { return cmp.Or(f.File, filepath.Join(f.Dir, f.Name)) }

func newManifest(r *run, s *state, place string) *manifest {
	return &manifest{name: r.manifestName(place), pinned: s.eager}
}

// add records the use of the result of a sample.
func (m *manifest) add(index int, record, action key.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := use{record: record}
	if action != record {
		u.action = action
	}
	m.used.set(index, u)
}

// setReused records the samples that a sink reused, and the sum of the manifest
// that lists them. With several sinks, each read all samples that it did not
// reuse.
func (m *manifest) setReused(copied []component.Copy, was [16]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.copied, m.was = copied, was
}

// saveManifests writes the manifests of the nodes that cached something. After
// a run that failed, samples that it did not reach keep their old entry.
func (r *run) saveManifests(ctx context.Context, complete bool) error {
	if r.Larder == nil {
		return nil
	}
	for _, s := range r.states {
		for _, m := range s.manifest {
			if err := m.save(ctx, r.Larder.Store(), complete); err != nil {
				if errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrFull) {
					continue // results pass through, and so do pins
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
	if m.used.n == 0 && len(m.copied) == 0 {
		return nil
	}
	old, err := s.Manifest(ctx, m.name)
	if err == nil && !complete {
		for i, u := range usesOf(old) {
			if _, ok := m.used.at(i); !ok {
				m.used.set(i, u)
			}
		}
	}
	copied, keys := m.copied, m.used.n
	if len(copied) > 0 && err == nil && complete && sumOf(old) == m.was {
		keys += len(old.Keys)
	} else {
		copied = nil
	}
	now := m.encode(m.with(moved(old, copied)), keys)
	m.sum, m.lost = sumOf(now), !complete || len(copied) != len(m.copied)
	err = s.PutManifest(ctx, now)
	m.lost = m.lost || err != nil
	return err
}

// with yields what was used, and the entries of others for samples that were
// not used, by sample.
func (m *manifest) with(others iter.Seq2[int, use]) iter.Seq2[int, use] {
	return func(yield func(int, use) bool) {
		next, stop := iter.Pull2(m.used.all)
		defer stop()
		first, used, more := next()
		before := func(at int) bool {
			for ; more && first < at; first, used, more = next() {
				if !yield(first, used) {
					return false
				}
			}
			return true
		}
		for at, u := range others {
			if !before(at) {
				return
			}
			if _, ok := m.used.at(at); !ok && !yield(at, u) {
				return
			}
		}
		before(math.MaxInt)
	}
}

// moved yields the entries of a manifest for samples that have another position
// now.
func moved(m store.Manifest, copied []component.Copy) iter.Seq2[int, use] {
	return func(yield func(int, use) bool) {
		if len(copied) == 0 {
			return
		}
		had := list(m)
		for _, c := range copied {
			i, _ := slices.BinarySearchFunc(had, c.Was, func(e entry, at int) int { return e.at - at })
			for ; i < len(had) && had[i].at < c.Was+c.Samples; i++ {
				if !yield(had[i].at-c.Was+c.Now, had[i].use(m)) {
					return
				}
			}
		}
	}
}

// sumOf returns a sum of the entries of a manifest.
func sumOf(m store.Manifest) [16]byte {
	h := xxh3.New()
	for i := range m.Keys {
		_, _ = h.Write(m.Keys[i][:]) // which cannot fail
	}
	_, _ = h.Write(m.Note)
	return h.Sum128().Bytes()
}

// encode lists the records of the used samples, each followed by the action if
// that differs. The note says which samples these are: twice the distance
// between positions, plus one where an action follows, as unsigned varints. So
// a few samples out of very many take little space. keys is the expected number
// of keys.
func (m *manifest) encode(all iter.Seq2[int, use], keys int) store.Manifest {
	out := store.Manifest{Name: m.name, Pinned: m.pinned, Keys: make([]key.Key, 0, keys)}
	before := 0
	for i, u := range all {
		distance := 2 * uint64(i-before)
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

// entry is the entry of a sample in a manifest.
type entry struct {
	at     int
	key    int  // index of the record among its keys
	linked bool // the action follows
}

func (e entry) use(m store.Manifest) use {
	u := use{record: m.Keys[e.key]}
	if e.linked {
		u.action = m.Keys[e.key+1]
	}
	return u
}

// list decodes the entries of a manifest. It skips damaged entries, which only
// cost an explanation.
func list(m store.Manifest) []entry {
	all := make([]entry, 0, len(m.Keys))
	at, note := uint64(0), m.Note
	for k := 0; k < len(m.Keys); {
		distance, n := binary.Uvarint(note)
		linked := distance%2 == 1
		if n <= 0 || linked && k+1 == len(m.Keys) {
			break
		}
		at, note = at+distance/2, note[n:]
		all = append(all, entry{int(at), k, linked})
		if k++; linked {
			k++
		}
	}
	return all
}

// usesOf reads what encode wrote, by sample.
func usesOf(m store.Manifest) map[int]use {
	used := make(map[int]use, len(m.Keys))
	for _, e := range list(m) {
		used[e.at] = e.use(m)
	}
	return used
}
