// Package larder keeps the results of expensive computations and hands them
// back only while they are still right.
//
// The nouns: an action (package key) describes a computation completely:
// operation, code identity, parameters, inputs. Its key names it. A record is
// what a store keeps under a key: the encoded value with its provenance. A
// cache keeps decoded values in memory.
//
// The one mechanism is [Do]: given an action and a function, it returns the
// value from memory or from the store, and otherwise runs the function, once
// per key at a time over all goroutines and all processes that share a store.
// Everything else in this module that remembers anything calls it.
package larder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/tier"
)

// defaultMemoryBytes is the bound of the memory cache where none is given.
const defaultMemoryBytes = 256 << 20

// Options say where and how much a Larder keeps. The zero value serves: the
// user's cache folder, 20 GiB of disk, 256 MiB of memory.
type Options struct {
	// Dir is the cache folder, shared by every process that names it. Empty
	// means [DefaultDir].
	Dir string
	// Store is used instead of a disk store in Dir. The Larder closes it.
	Store store.Store
	// Shared, if not nil, is a store that machines share, such as one of package
	// store/redis: results that are not in the folder are looked for there, and
	// those that are computed are put there as well (see tier.Share). The Larder
	// closes it, also if it cannot be opened.
	Shared store.Store
	// MaxBytes bounds the disk store; 0 means 20 GiB, below 0 no bound.
	MaxBytes int64
	// MemoryBytes bounds what stays decoded in memory; 0 means
	// 256 MiB, below 0 keeps nothing in memory.
	MemoryBytes int64
	// ReadOnly reads the disk store and never writes to it.
	ReadOnly bool
	// Verify says which hits are checked by computing them again.
	Verify Verification
	// Salt is a namespace: records and manifests of another salt, or of none,
	// are neither found nor listed nor removed; only the bound on bytes is for
	// all. A bad run is disowned by choosing a new one. If it is empty, the
	// environment's LARDER_SALT is taken.
	Salt string
	// Logger takes warnings: damage, a full disk. Nil means slog.Default().
	Logger *slog.Logger
}

// DefaultDir returns the cache folder used where none is named: the
// environment's LARDER_CACHE, else "larder" in the user's cache folder.
func DefaultDir() (string, error) {
	if dir := os.Getenv("LARDER_CACHE"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("larder: no cache folder: %w; set LARDER_CACHE or name one", err)
	}
	return filepath.Join(base, "larder"), nil
}

// A Larder keeps results. It may be used by many goroutines; it is made by
// [Open] and ended by Close.
type Larder struct {
	store  store.Store
	local  store.Store                   // the store without what machines share
	reads  store.Records                 // the store, or where there is no salt what it is a view of: keys are the same
	memory *cache.Cache[key.Key, *entry] // nil keeps nothing
	flight singleflight.Group[key.Key, outcome]
	log    *slog.Logger
	dir    string

	maxBytes int64 // of the store in dir
	count    counters

	verification Verification
	verified     sync.Map // of keys that were checked: once is enough

	putWarning sync.Once
	warned     sync.Map // of texts
	queued     sync.Map // of keys whose lease is waited for
}

// Open opens the cache folder, making it if it is missing. A folder that
// cannot be written is read; one that cannot be used at all is an error.
func Open(o Options) (*Larder, error) {
	l, err := open(o)
	if err != nil && o.Shared != nil {
		err = errors.Join(err, o.Shared.Close())
	}
	return l, err
}

func open(o Options) (*Larder, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	verification, err := o.Verify.complete()
	if err != nil {
		return nil, err
	}
	l := &Larder{store: o.Store, log: o.Logger, verification: verification}
	if l.store == nil {
		if err := l.openDisk(o); err != nil {
			return nil, err
		}
	}
	salt := cmp.Or(o.Salt, os.Getenv("LARDER_SALT"))
	l.flight.Scope, l.flight.Long = scope{l.place(), salt}, l.waitsLong
	l.local = withSalt(l.store, salt)
	if o.MemoryBytes == 0 {
		o.MemoryBytes = defaultMemoryBytes
	}
	if o.MemoryBytes > 0 {
		memory, err := cache.New[key.Key, *entry](cache.Options{Policy: "lru", Bytes: o.MemoryBytes})
		if err != nil {
			return nil, errors.Join(err, l.store.Close())
		}
		l.memory = memory
	}
	if o.Shared != nil {
		l.store = tier.Share(l.store, o.Shared)
	}
	l.reads = l.store
	if l.store = withSalt(l.store, salt); salt != "" {
		l.reads = l.store
	}
	return l, nil
}

// scope tells apart what keys are of, for those who wait for a lease that
// another Larder of this process has.
type scope struct {
	place any
	salt  string
}

// place is what a store is, by whatever path it was opened.
func (l *Larder) place() any {
	if info, err := os.Stat(l.dir); err == nil && l.dir != "" {
		if s := key.StatOf(info); s.Ino != 0 {
			return [2]uint64{s.Dev, s.Ino}
		}
		return pathguard.Resolve(l.dir)
	}
	if reflect.TypeOf(l.store).Comparable() {
		return l.store
	}
	return l
}

// Logger takes warnings.
func (l *Larder) Logger() *slog.Logger { return l.log }

func (l *Larder) openDisk(o Options) error {
	if o.Dir == "" {
		dir, err := DefaultDir()
		if err != nil {
			return err
		}
		o.Dir = dir
	}
	s, err := disk.Open(disk.Options{Dir: o.Dir, MaxBytes: o.MaxBytes, ReadOnly: o.ReadOnly, Logger: o.Logger})
	if err != nil {
		return err
	}
	l.store, l.dir, l.maxBytes = s, o.Dir, s.MaxBytes()
	return nil
}

// Close ends the use of the store. Values got from it stay valid.
func (l *Larder) Close() error { return l.store.Close() }

// Dir returns the cache folder, or "" if the store was given.
func (l *Larder) Dir() string { return l.dir }

// MaxBytes is the bound of the disk store, 0 for none or of a store that was given.
func (l *Larder) MaxBytes() int64 { return l.maxBytes }

// Store returns the store of this machine, for listing, manifests and clean-up.
func (l *Larder) Store() store.Store { return l.local }

// Whole returns the store with what machines share, which is what results are looked
// for in: what is deleted in it is deleted in both.
func (l *Larder) Whole() store.Store { return l.store }

// Key returns the key under which the store keeps and lists what k names: another
// one, under a salt.
func (l *Larder) Key(k key.Key) key.Key { return l.store.(*space).KeyOf(k) }

// InMemory returns the bounds of the memory cache, how many results it has, and what it did; all
// are zero if there is none.
func (l *Larder) InMemory() (o cache.Options, results int, s cache.Stats) {
	if l.memory == nil {
		return o, 0, s
	}
	return l.memory.Options(), l.memory.Len(), l.memory.Stats()
}

// Has reports whether the result of a resolved or unresolved action is kept,
// without reading or computing anything.
func (l *Larder) Has(ctx context.Context, k key.Key) (bool, error) {
	if l.memory != nil {
		if _, ok := l.memory.Get(k); ok {
			return true, nil
		}
	}
	return l.store.Has(ctx, k)
}
