// Package larder caches the results of expensive computations and returns them only
// while they are valid.
//
// An action (package key) describes a computation completely: operation, code identity,
// parameters and inputs. Its key identifies it. A record is the encoded value, with its
// provenance, that a store holds under a key. A memory cache holds decoded values.
//
// [Do] takes an action and a function. It returns the value from memory or from the
// store; otherwise it runs the function. At most one execution per key runs at a time,
// over all goroutines and all processes that share the store. Every other cache of this
// module calls it.
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

const defaultMemoryBytes = 256 << 20

// Options configure a Larder. The zero value uses the user's cache directory, 20 GiB of
// disk and 256 MiB of memory.
type Options struct {
	// Dir is the cache directory. All processes that use it share the results. Empty
	// means [DefaultDir].
	Dir string
	// Store replaces the disk store in Dir. The Larder closes it.
	Store store.Store
	// Shared is an optional store that machines share, such as one of package
	// store/redis or store/bucket. The Larder looks there for results that Dir does not have, and also
	// stores new results there (see tier.Share). The Larder closes it, also if Open
	// fails.
	Shared store.Store
	// MaxBytes bounds the disk store; 0 means 20 GiB, a negative value no bound.
	MaxBytes int64
	// MemoryBytes bounds the decoded values in memory; 0 means 256 MiB, a negative
	// value disables the memory cache.
	MemoryBytes int64
	// ReadOnly opens the disk store for reading only.
	ReadOnly bool
	// Verify selects hits that are checked by computing them again.
	Verify Verification
	// Salt is a namespace. Records and manifests of another salt, or of none, are not
	// found, listed or removed; only the bound on bytes is shared. A new salt hides the
	// results of a bad run. Empty means the environment variable LARDER_SALT.
	Salt string
	// Logger receives warnings, such as damage or a full disk. Nil means
	// slog.Default().
	Logger *slog.Logger
}

// DefaultDir returns the default cache directory: the environment variable
// LARDER_CACHE, else "larder" in the user's cache directory.
func DefaultDir() (string, error) {
	if dir := os.Getenv("LARDER_CACHE"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("larder: no cache directory: %w; set LARDER_CACHE or name one", err)
	}
	return filepath.Join(base, "larder"), nil
}

// A Larder caches results. It is safe for concurrent use. [Open] returns one; Close
// releases it.
type Larder struct {
	store  store.Store
	local  store.Store                   // the store of this machine, without Options.Shared
	reads  store.Records                 // the store; without a salt the unwrapped one, which has the same keys
	memory *cache.Cache[key.Key, *entry] // nil if disabled
	flight singleflight.Group[key.Key, outcome]
	log    *slog.Logger
	dir    string

	maxBytes int64 // bound of the store in dir
	count    counters

	descriptions descriptions

	verification Verification
	verified     sync.Map // keys that were checked; each is checked once

	putWarning sync.Once
	warned     sync.Map // what was warned about: keys, and see WarnOnce
	queued     sync.Map // keys whose lease a goroutine waits for
}

// Open opens the cache directory and creates it if it is missing. Open uses a directory
// that it cannot write read-only, and returns an error for one that it cannot use at
// all.
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
	l.flight.Scope, l.flight.Long = scope{l.storeID(), salt}, l.waitsLong
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

// scope distinguishes equal keys of different stores or salts. Waiters use it for
// leases that another Larder of this process holds.
type scope struct {
	store any
	salt  string
}

// storeID returns an identity of the store that does not depend on the path by which it
// was opened.
func (l *Larder) storeID() any {
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

// Logger returns the logger of warnings.
func (l *Larder) Logger() *slog.Logger { return l.log }

// WarnOnce logs a warning, unless it has logged one about the same comparable value.
func (l *Larder) WarnOnce(about any, message string, args ...any) {
	if _, before := l.warned.LoadOrStore(about, true); !before {
		l.log.Warn(message, args...)
	}
}

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

// Close closes the store. Values that it returned stay valid.
func (l *Larder) Close() error { return l.store.Close() }

// Dir returns the cache directory, or "" if Options had a Store.
func (l *Larder) Dir() string { return l.dir }

// MaxBytes returns the bound of the disk store. It returns 0 if there is no bound or
// Options had a Store.
func (l *Larder) MaxBytes() int64 { return l.maxBytes }

// Store returns the store of this machine, for listing, manifests and clean-up.
func (l *Larder) Store() store.Store { return l.local }

// CombinedStore returns the store in which results are looked up: that of this machine combined
// with Options.Shared. A deletion in it deletes in both.
func (l *Larder) CombinedStore() store.Store { return l.store }

// Key returns the key under which the store holds and lists the record of k. With a
// salt this is another key.
func (l *Larder) Key(k key.Key) key.Key { return l.store.(*namespace).KeyOf(k) }

// InMemory returns the bounds of the memory cache, its number of results and its
// statistics. All are zero if it is disabled.
func (l *Larder) InMemory() (o cache.Options, results int, s cache.Stats) {
	if l.memory == nil {
		return o, 0, s
	}
	return l.memory.Options(), l.memory.Len(), l.memory.Stats()
}

// Has reports whether the result of an action, resolved or not, is cached. It reads no
// result and computes nothing.
func (l *Larder) Has(ctx context.Context, k key.Key) (bool, error) {
	if l.memory != nil {
		if _, ok := l.memory.Get(k); ok {
			return true, nil
		}
	}
	return l.store.Has(ctx, k)
}
