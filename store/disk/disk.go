// Package disk implements a store in a directory that all processes of a machine share.
//
// Small records are appended to packs, each written by one process at a time and read by
// all. Records put by one call share a header, a checksum and the common parts of their
// provenance, so put and get many records together. Large payloads are separate files,
// named by content and mapped into memory.
//
// A process that dies at any moment leaves no partial results, because every read checks
// the header, payload, index or manifest. Data that fails the check is a miss; the store
// logs it and moves it to the directory quarantine.
//
// The directory may be on any local file system. It may be copied while no process writes,
// and deleted at any time.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// Defaults of Options.
const (
	defaultMaxBytes  = 20 << 30
	defaultPackBytes = 64 << 20
	defaultBlobBytes = 256 << 10
)

// Options are the settings of a Store. The zero value is a good choice.
type Options struct {
	// Dir is the directory: a store, or empty. It is created with its parents if missing.
	// "" means the directory "larder" in the user's cache directory.
	Dir string
	// MaxBytes caps the size of the directory: beyond it, and before Close, the records
	// with the lowest worth are evicted. Until an eviction ends it may hold a sixteenth
	// more, or an eighth if pinned records take nearly all of it. 0 means 20 GiB, below 0
	// no cap.
	MaxBytes int64
	// ReadOnly opens the directory without changing anything in it.
	ReadOnly bool
	// Sync makes every Put wait until it survives a power loss. Without it, a power loss
	// may lose recent records.
	Sync bool
	// PackBytes is the size at which a pack is finished, at most a sixteenth of MaxBytes
	// and 1 GiB. 0 means 64 MiB.
	PackBytes int64
	// BlobBytes is the size from which a payload gets its own file. 0 means 256 KiB.
	BlobBytes int64
	// Logger receives warnings about damage. Nil means slog.Default().
	Logger *slog.Logger
}

// withDefaults fills in missing options, and bounds the others.
func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("store: no cache directory is given, and there is no default: %w; set Dir", err)
		}
		o.Dir = filepath.Join(cache, "larder")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("store: %w", err)
	}
	o.Dir = dir
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	o.MaxBytes = max(o.MaxBytes, 0) // from here on, 0 means no cap
	if o.PackBytes <= 0 {
		o.PackBytes = defaultPackBytes
	}
	if o.MaxBytes > 0 {
		o.PackBytes = min(o.PackBytes, o.MaxBytes/16)
	}
	o.PackBytes = min(o.PackBytes, format.MaxPack)
	if o.BlobBytes <= 0 {
		o.BlobBytes = defaultBlobBytes
	}
	o.BlobBytes = min(o.BlobBytes, format.MaxInline)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

// A Store stores records in a directory. Use Open to create one.
type Store struct {
	files     *vfs.Directory
	limit     int64 // 0 for none
	packBytes int64
	blobBytes int64

	index     index
	directory dirView
	writer    appender
	touches   touches
	leases    leases
	space     space
	mapped    *vfs.Mappings

	collecting sync.Mutex // for systems without file locks
	closed     atomic.Bool
	life       context.Context // ends with Close
	end        context.CancelFunc
	background sync.WaitGroup
}

var _ store.Store = (*Store)(nil)

// Open opens the store in a directory, and creates it if missing. Damage in the directory
// is not an error. A directory that cannot be written is opened for reading, with a
// warning. A directory of a newer format gives a *VersionError, and one with other content
// an error that wraps [store.ErrForeign].
func Open(o Options) (*Store, error) { return openOn(o, nil) }

// openOn is Open on a medium that can be made to fail.
func openOn(o Options, fail vfs.Fail) (*Store, error) {
	return openDir(o, &vfs.Directory{Fail: fail})
}

// openDir is Open with options and directory filled in.
func openDir(o Options, files *vfs.Directory) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{limit: o.MaxBytes, packBytes: o.PackBytes, blobBytes: o.BlobBytes}
	files.Dir, files.ReadOnly, files.Sync, files.MaxAside, files.Log = o.Dir, o.ReadOnly, o.Sync, maxAside(o.MaxBytes), o.Logger
	files.Grown = func(n int64) { s.space.held.Add(n) }
	s.files = files
	s.writer.s = s
	s.mapped = s.files.NewMappings(s.limit)
	s.life, s.end = context.WithCancel(context.Background())
	if err := s.prepare(); err != nil {
		s.end()
		s.files.Close()
		return nil, fmt.Errorf("store: open %s: %w", s.files.Dir, err)
	}
	s.index.begin(s.openMerged())
	s.refresh()
	s.space.wanted, s.space.changed.L = make(chan struct{}, 1), &s.space.mu
	if held, err := s.estimate(); err == nil {
		s.space.held.Store(held)
	}
	if !s.files.ReadOnly {
		s.background.Go(s.housekeep)
	}
	return s, nil
}

// maxQuarantine bounds the bytes in the quarantine.
const maxQuarantine = 64 << 20

// maxAside bounds the quarantine to a small part of a small store.
func maxAside(limit int64) int64 {
	if limit > 0 {
		return min(maxQuarantine, limit/16)
	}
	return maxQuarantine
}

// prepare prepares the directory for use.
func (s *Store) prepare() error {
	if err := s.files.CheckOurs(); err != nil {
		return err
	}
	if s.files.ReadOnly {
		if _, err := s.files.Stat(s.files.Dir); err != nil {
			return err
		}
		return s.checkFormat()
	}
	if err := s.checkFormat(); err != nil && !errors.Is(err, store.ErrReadOnly) {
		return err
	}
	err := s.files.LayOut()
	if err == nil {
		err = s.files.TryWriting()
	}
	switch {
	case errors.Is(err, store.ErrFull):
		return nil
	case errors.Is(err, store.ErrReadOnly) && s.files.IsThere():
		s.files.ReadOnly = true
		s.files.Log.Warn("store: the directory is not writable; opened read-only", "dir", s.files.Dir, "error", err)
		return nil
	}
	return err
}

// Close ends the use of the store and its leases. Payloads obtained from it stay valid.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.end()
	s.background.Wait()
	s.finishMerge()
	s.flushTouches()
	err := s.writer.release()
	s.finishEviction() // last, because all writes count
	err = errors.Join(err, s.leases.close())
	s.files.Close()
	s.index.close()
	s.directory.close()
	s.mapped.DropFromMemory()
	return err
}

var errClosed = fmt.Errorf("store: the store was closed: %w", fs.ErrClosed)

// writable reports why nothing can be written.
func (s *Store) writable() error {
	switch {
	case s.closed.Load():
		return errClosed
	case s.files.ReadOnly:
		return store.ErrReadOnly
	}
	return nil
}
