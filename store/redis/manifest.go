package redis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A manifest is one string: magic; XXH3 of the rest; the time in ns, 8 bytes; 1 if it is
// pinned, a byte; then the name, the note and the keys, each after its length as an
// unsigned varint.
const (
	manifestMagic = "LARDRMN\x01"
	manifestHead  = 25
	maxManifest   = 16 << 20
)

func encodeManifest(m *store.Manifest) []byte {
	b := append(make([]byte, 0, manifestHead+30+len(m.Name)+len(m.Note)+key.Size*len(m.Keys)), manifestMagic...)
	b = binary.LittleEndian.AppendUint64(append(b, make([]byte, 8)...), uint64(m.Time.UnixNano()))
	pinned := byte(0)
	if m.Pinned {
		pinned = 1
	}
	b = append(b, pinned)
	b = append(binary.AppendUvarint(b, uint64(len(m.Name))), m.Name...)
	b = append(binary.AppendUvarint(b, uint64(len(m.Note))), m.Note...)
	b = binary.AppendUvarint(b, uint64(key.Size*len(m.Keys)))
	for i := range m.Keys {
		b = append(b, m.Keys[i][:]...)
	}
	binary.LittleEndian.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

func decodeManifest(b []byte) (m store.Manifest, err error) {
	if len(b) < manifestHead || string(b[:8]) != manifestMagic || binary.LittleEndian.Uint64(b[8:]) != xxh3.Hash(b[16:]) {
		return m, errDamaged
	}
	m.Time, m.Pinned = time.Unix(0, int64(binary.LittleEndian.Uint64(b[16:]))), b[24] == 1
	rest := b[manifestHead:]
	var parts [3][]byte
	for i := range parts {
		n, width := binary.Uvarint(rest)
		if width <= 0 || n > uint64(len(rest)-width) {
			return m, errDamaged
		}
		parts[i], rest = rest[width:width+int(n)], rest[width+int(n):]
	}
	if len(rest) > 0 || len(parts[2])%key.Size != 0 {
		return m, errDamaged
	}
	m.Name, m.Note = string(parts[0]), slices.Clone(parts[1])
	for k := range slices.Chunk(parts[2], key.Size) {
		m.Keys = append(m.Keys, key.Key(k))
	}
	return m, nil
}

// PutManifest stores m. This package does not evict the records that m pins; the server
// may, under its own policy.
func (s *Store) PutManifest(ctx context.Context, m store.Manifest) error {
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	if err := s.writable(); err != nil {
		return err
	}
	b := encodeManifest(&m)
	if len(b) > maxManifest {
		return fmt.Errorf("redis: manifest %q has %d bytes, above the limit of %d: %w", m.Name, len(b), maxManifest, store.ErrFull)
	}
	var c *goredis.StatusCmd
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { c = p.Set(ctx, s.manifestName(m.Name), b, 0) })
	if err != nil {
		return err
	}
	return s.refused(c.Err())
}

// Manifest returns the manifest stored under name.
func (s *Store) Manifest(ctx context.Context, name string) (store.Manifest, error) {
	m, err := s.manifestAt(ctx, s.manifestName(name))
	if errors.Is(err, ErrAway) || err == nil && m.Name != name {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Manifest{}, err
	}
	return m, nil
}

// manifestAt reads the manifest with a name in the server.
func (s *Store) manifestAt(ctx context.Context, at string) (m store.Manifest, err error) {
	var c *goredis.StringCmd
	err = s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { c = p.GetRange(ctx, at, 0, maxManifest) })
	if err != nil {
		return m, err
	}
	b, err := c.Bytes()
	if err == nil && len(b) == 0 {
		return m, store.ErrNotFound
	}
	if m, err = decodeManifest(b); err != nil {
		s.log.Warn("redis: a damaged manifest is ignored", "server", s.shown, "error", err)
		return m, store.ErrNotFound
	}
	return m, nil
}

// Manifests yields the stored manifests, without keys.
func (s *Store) Manifests(ctx context.Context) iter.Seq2[store.Manifest, error] {
	return func(yield func(store.Manifest, error) bool) {
		going := true
		err := s.eachManifest(ctx, func(m store.Manifest) error {
			m.Keys = nil
			if going = yield(m, nil); !going {
				return errLeft
			}
			return nil
		})
		if err != nil && going {
			yield(store.Manifest{}, err)
		}
	}
}

func (s *Store) eachManifest(ctx context.Context, visit func(store.Manifest) error) error {
	seen := map[string]bool{}
	return s.names(ctx, manifestKind, func(names []string) error {
		for _, at := range names {
			if seen[at] {
				continue
			}
			seen[at] = true
			m, err := s.manifestAt(ctx, at)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err == nil {
				err = visit(m)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteManifest deletes a manifest.
func (s *Store) DeleteManifest(ctx context.Context, name string) error {
	var c *goredis.IntCmd
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { c = p.Del(ctx, s.manifestName(name)) })
	if err != nil {
		return err
	}
	return s.refused(c.Err())
}

// pinned returns the keys that pinned manifests name, and those that these link to.
func (s *Store) pinned(ctx context.Context) (map[key.Key]bool, error) {
	pinned := map[key.Key]bool{}
	var fresh []key.Key
	pin := func(k key.Key) {
		if !k.IsZero() && !pinned[k] {
			pinned[k] = true
			fresh = append(fresh, k)
		}
	}
	err := s.eachManifest(ctx, func(m store.Manifest) error {
		for _, k := range m.Keys {
			if m.Pinned {
				pin(k)
			}
		}
		return nil
	})
	for err == nil && len(fresh) > 0 {
		some := fresh[:min(len(fresh), perTrip)]
		fresh = fresh[len(some):]
		var found []stored
		found, err = s.headers(ctx, some)
		for _, f := range found {
			pin(f.Link)
		}
	}
	return pinned, err
}
