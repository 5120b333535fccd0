package disk

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

func (s *Store) manifestPath(name string) string {
	return s.files.Path(vfs.Manifests, fmt.Sprintf("%x", sha256.Sum256([]byte(name))))
}

// PutManifest stores m under its name. It may have up to 30 million keys.
func (s *Store) PutManifest(ctx context.Context, m store.Manifest) error {
	if err := s.writable(); err != nil {
		return err
	}
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	b := format.EncodeManifest(&m)
	if len(b) > format.MaxManifest {
		return fmt.Errorf("store: manifest %q of %d bytes exceeds %d; split it", m.Name, len(b), format.MaxManifest)
	}
	if err := s.files.Write(s.manifestPath(m.Name), b); err != nil {
		return fmt.Errorf("store: put manifest %q: %w", m.Name, err)
	}
	s.freeSpace() // the file is counted
	return nil
}

// Manifest returns the manifest stored under name.
func (s *Store) Manifest(_ context.Context, name string) (store.Manifest, error) {
	if s.closed.Load() {
		return store.Manifest{}, errClosed
	}
	return s.readManifest(s.manifestPath(name))
}

// readManifest reads one file. It quarantines a damaged one and returns store.ErrNotFound.
func (s *Store) readManifest(path string) (store.Manifest, error) {
	b, err := s.files.Read(path, format.MaxManifest)
	var m store.Manifest
	if err == nil {
		m, err = format.DecodeManifest(b)
	}
	if err == nil && s.manifestPath(m.Name) != path {
		err = fmt.Errorf("%w: the name is that of another manifest", format.ErrDamaged)
	}
	if err == nil {
		return m, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.files.Quarantine(path, err)
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
		dir := s.files.Path(vfs.Manifests)
		entries, err := s.files.List(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(store.Manifest{}, fmt.Errorf("store: list manifests: %w", err))
			return
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				yield(store.Manifest{}, err)
				return
			}
			if !isDigestName(e.Name()) {
				continue
			}
			m, err := s.readManifest(filepath.Join(dir, e.Name()))
			if err == nil && !yield(m, nil) {
				return
			}
		}
	}
}

// DeleteManifest deletes a manifest.
func (s *Store) DeleteManifest(_ context.Context, name string) error {
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.files.Remove(s.manifestPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: delete manifest %q: %w", name, vfs.StoreError(err))
	}
	return nil
}
