package disk

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A manifest is a file of its own, named by the SHA-256 of its name:
//
//	 0 8 magic
//	 8 8 XXH3 of the rest
//	16 8 time, ns since 1970
//	24 8 1 if pinned
//	32 8 bytes of name, 40 8 bytes of note, 48 8 number of keys
//	56   name, note, keys of 33 bytes
const (
	manifestMagic      = "LARDMAN\x01"
	manifestHeaderSize = 56
	maxManifest        = 1 << 30
)

func encodeManifest(m *store.Manifest) []byte {
	le := binary.LittleEndian
	b := make([]byte, manifestHeaderSize, manifestHeaderSize+len(m.Name)+len(m.Note)+key.Size*len(m.Keys))
	copy(b, manifestMagic)
	le.PutUint64(b[16:], uint64(m.Time.UnixNano()))
	if m.Pinned {
		b[24] = 1
	}
	le.PutUint64(b[32:], uint64(len(m.Name)))
	le.PutUint64(b[40:], uint64(len(m.Note)))
	le.PutUint64(b[48:], uint64(len(m.Keys)))
	b = append(b, m.Name...)
	b = append(b, m.Note...)
	for i := range m.Keys {
		b = append(b, m.Keys[i][:]...)
	}
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

func decodeManifest(b []byte) (m store.Manifest, err error) {
	le := binary.LittleEndian
	if len(b) < manifestHeaderSize || string(b[:8]) != manifestMagic || le.Uint64(b[8:]) != xxh3.Hash(b[16:]) {
		return m, fmt.Errorf("%w: bad checksum", errDamaged)
	}
	name, note, keys := le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:])
	body := b[manifestHeaderSize:]
	n := uint64(len(body))
	if name > n || note > n || keys > n/key.Size || name+note+keys*key.Size != n {
		return m, fmt.Errorf("%w: lengths do not add up", errDamaged)
	}
	m.Time = time.Unix(0, int64(le.Uint64(b[16:])))
	m.Pinned = b[24] == 1
	m.Name = string(body[:name])
	m.Note = body[name : name+note : name+note]
	m.Keys = make([]key.Key, keys)
	for i, from := 0, body[name+note:]; len(from) > 0; i, from = i+1, from[key.Size:] {
		m.Keys[i] = key.Key(from[:key.Size])
	}
	return m, nil
}

func (s *Store) manifestPath(name string) string {
	return filepath.Join(s.dir, manifestsDir, fmt.Sprintf("%x", sha256.Sum256([]byte(name))))
}

// PutManifest keeps m under its name. It may have up to 30 million keys.
func (s *Store) PutManifest(ctx context.Context, m store.Manifest) error {
	if err := s.writable(); err != nil {
		return err
	}
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	b := encodeManifest(&m)
	if len(b) > maxManifest {
		return fmt.Errorf("store: manifest %q of %d bytes is over %d: split it", m.Name, len(b), maxManifest)
	}
	if err := s.writeFile(s.manifestPath(m.Name), b); err != nil {
		return fmt.Errorf("store: put manifest %q: %w", m.Name, err)
	}
	s.makeRoom(ctx, 0) // the file is counted
	return nil
}

// Manifest returns the manifest kept under name.
func (s *Store) Manifest(_ context.Context, name string) (store.Manifest, error) {
	if s.closed.Load() {
		return store.Manifest{}, errClosed
	}
	return s.readManifest(s.manifestPath(name))
}

// readManifest reads one file. A damaged one is set aside and not found.
func (s *Store) readManifest(path string) (store.Manifest, error) {
	b, err := readSmall(path, maxManifest)
	var m store.Manifest
	if err == nil {
		m, err = decodeManifest(b)
	}
	if err == nil && s.manifestPath(m.Name) != path {
		err = fmt.Errorf("%w: it has the name of another manifest", errDamaged)
	}
	if err == nil {
		return m, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.setAside(path, err)
	}
	return store.Manifest{}, store.ErrNotFound
}

// Manifests yields all manifests without their keys.
func (s *Store) Manifests(ctx context.Context) iter.Seq2[store.Manifest, error] {
	return func(yield func(store.Manifest, error) bool) {
		if s.closed.Load() {
			yield(store.Manifest{}, errClosed)
			return
		}
		for m, err := range s.manifests(ctx) {
			m.Keys = nil
			if !yield(m, err) {
				return
			}
		}
	}
}

// manifests yields all manifests with their keys.
func (s *Store) manifests(ctx context.Context) iter.Seq2[store.Manifest, error] {
	return func(yield func(store.Manifest, error) bool) {
		dir := filepath.Join(s.dir, manifestsDir)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(store.Manifest{}, fmt.Errorf("store: list manifests: %w", err))
			return
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				yield(store.Manifest{}, err)
				return
			}
			if !isManifestName(e.Name()) {
				continue
			}
			m, err := s.readManifest(filepath.Join(dir, e.Name()))
			if err == nil && !yield(m, nil) {
				return
			}
		}
	}
}

// DeleteManifest forgets a manifest.
func (s *Store) DeleteManifest(_ context.Context, name string) error {
	if err := s.writable(); err != nil {
		return err
	}
	if err := os.Remove(s.manifestPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: delete manifest %q: %w", name, asStoreError(err))
	}
	return nil
}
