// Package bucket provides a store in a bucket of an object service that many machines share.
//
// It is the far one of two stores: see [tier.Share]. Records are collected in packs. A pack
// and its index are two objects, which are created once and never change: see layout.go.
// So writers need no lock and no transaction. A writer that is killed loses what it has not
// committed, and leaves at most a pack that no index names.
//
// Everything in it is a cache. A record that is damaged, or whose pack is gone, is a miss.
// A service that fails stores nothing: results are computed without further waiting, and
// the logger receives one warning.
//
// There are no leases across machines: two that compute the same at the same time both
// store it, and the later record counts.
//
// [tier.Share]: https://pkg.go.dev/github.com/larder-data/larder/store/tier#Share
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/internal/lease"
)

const (
	defaultPackBytes = 16 << 20
	defaultDelay     = 10 * time.Second
	defaultRefresh   = 10 * time.Second
	defaultTimeout   = 10 * time.Second
	minSecret        = 16
	firstAway        = time.Minute // how long nothing is requested after a failure
	lastAway         = time.Hour   // the same after several
	slowest          = 1 << 20     // bytes per second of a service that can be used
)

// ErrAway is wrapped by the errors of operations that need the service. Get and similar
// methods find nothing then.
var ErrAway = errors.New("bucket: the service cannot be used")

var errClosed = fmt.Errorf("bucket: the store is closed: %w", fs.ErrClosed)

// Options are the settings of a Store. All users of a bucket should use the same Secret.
type Options struct {
	// URL names a directory in a bucket, such as s3://bucket/larder. The program must have
	// the driver: see package objectstore.
	URL string
	// Secret, if not empty, signs what is written, and nothing is believed that is not
	// signed with it. It has at least 16 bytes.
	Secret []byte
	// ReadOnly stores nothing in the bucket.
	ReadOnly bool
	// PackBytes is how many bytes of records make a pack. Larger records have a pack of
	// their own. 0 means 16 MiB.
	PackBytes int64
	// Delay is how long a record waits for others of its pack. 0 means 10 s.
	Delay time.Duration
	// Refresh is the time after which a missing key makes a Store list the packs of others
	// again. 0 means 10 s; below 0 each missing key does.
	Refresh time.Duration
	// Timeout bounds each wait for the service; each MiB of a request allows one second more.
	// 0 means 10 s.
	Timeout time.Duration
	// Logger receives warnings about damage and a service that cannot be used. Nil means
	// slog.Default().
	Logger *slog.Logger
}

// A Store stores records in a bucket. Use Open to create one.
type Store struct {
	o      Options
	shown  string // the URL, safe to show
	leases lease.Table
	life   context.Context // ends with the store
	stop   context.CancelFunc
	blocks blocks

	listing sync.Mutex // held while indexes are read

	mu     sync.Mutex
	closed bool
	places map[key.Key]place
	known  map[string]bool // names of the indexes that were read
	listed time.Time       // zero before the first time
	open   *pack           // collects records; nil if there are none
	timer  *time.Timer     // writes the open pack
	away   time.Time       // until when nothing is requested
	pause  time.Duration   // the last one
	warned bool

	writing sync.WaitGroup
}

// A place is where the latest record of a key is.
type place struct {
	entry
	*pack
}

// A pack is a pack that is stored, or about to be.
type pack struct {
	name    string
	bytes   int64
	entries []entry // of a pack that is not stored
	content []byte  // the same
	lost    bool    // a record could not be read

	opening sync.Mutex
	file    *objectstore.File // nil until it is read
}

// Open returns a store. It sends no request.
func Open(o Options) (*Store, error) {
	o.URL = strings.TrimSuffix(o.URL, "/")
	if err := check(o); err != nil {
		return nil, fmt.Errorf("bucket: %w", err)
	}
	if len(o.Secret) > 0 && len(o.Secret) < minSecret {
		return nil, fmt.Errorf("bucket: the secret has %d bytes; use %d or more", len(o.Secret), minSecret)
	}
	for _, d := range []struct {
		at   *time.Duration
		none time.Duration
	}{{&o.Delay, defaultDelay}, {&o.Refresh, defaultRefresh}, {&o.Timeout, defaultTimeout}} {
		if *d.at == 0 {
			*d.at = d.none
		}
	}
	if o.PackBytes <= 0 {
		o.PackBytes = defaultPackBytes
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &Store{o: o, shown: objectstore.Name(o.URL), places: map[key.Key]place{}, known: map[string]bool{}}
	s.life, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// check refuses a URL that cannot name a directory.
func check(o Options) error {
	if err := objectstore.Check(o.URL); err != nil {
		return err
	}
	if _, name, _ := strings.Cut(objectstore.Name(o.URL), "://"); path.Clean(name) != name {
		return fmt.Errorf("%s: the directory has an empty name, or the name . or ..; remove it", objectstore.Name(o.URL))
	}
	if o.ReadOnly {
		return nil
	}
	return objectstore.CheckPut(o.URL + "/index/name")
}

// String returns the URL without credentials.
func (s *Store) String() string { return s.shown }

// Close writes what waits to be written. Payloads obtained from the store stay valid.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	sealed := s.seal()
	s.mu.Unlock()
	_ = s.write(s.life, sealed) // was logged
	s.writing.Wait()
	s.stop()
	return nil
}

// usable returns why the service must not be used now.
func (s *Store) usable(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	return s.rests()
}

// rests returns an error while nothing is requested after a failure.
func (s *Store) rests() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.away) {
		return fmt.Errorf("%w: %s", ErrAway, s.shown)
	}
	return nil
}

// bounded returns the context of requests for this number of bytes.
func (s *Store) bounded(ctx context.Context, bytes int64) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.o.Timeout+time.Duration(bytes)*time.Second/slowest, errSlow)
}

var errSlow = errors.New("the service does not respond in time")

// failed returns the error of a request. Unless the caller's context ended, it stops further
// requests for a while.
func (s *Store) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if errors.Is(err, ErrAway) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pause = min(max(firstAway, 4*s.pause), lastAway)
	s.away = time.Now().Add(s.pause)
	if !s.warned {
		s.warned = true
		s.o.Logger.Warn("bucket: the shared store cannot be used; results are computed and cached on this machine", "bucket", s.shown, "error", err)
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

// Lease leases k among the users of this Store.
func (s *Store) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	return s.leases.Acquire(ctx, k)
}

// TryLease leases keys among the users of this Store.
func (s *Store) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	leased, release = s.leases.TryAcquire(keys)
	return leased, release, nil
}

// PutManifest returns an error that wraps [store.ErrReadOnly]: a bucket has no manifests.
func (s *Store) PutManifest(context.Context, store.Manifest) error {
	return fmt.Errorf("bucket: no manifests are stored in a bucket: %w", store.ErrReadOnly)
}

// Manifest returns [store.ErrNotFound].
func (s *Store) Manifest(context.Context, string) (store.Manifest, error) {
	return store.Manifest{}, store.ErrNotFound
}

// Manifests yields nothing.
func (s *Store) Manifests(context.Context) iter.Seq2[store.Manifest, error] {
	return func(func(store.Manifest, error) bool) {}
}

// DeleteManifest does nothing.
func (s *Store) DeleteManifest(context.Context, string) error { return nil }

// Collect evicts nothing: the service expires objects if its owner configures that.
func (s *Store) Collect(context.Context, int64) (freed int64, err error) { return 0, nil }

// Usage counts the latest records of all keys, and their bytes.
func (s *Store) Usage(ctx context.Context) (u store.Usage, err error) {
	if err := s.refresh(ctx, 0); err != nil {
		return u, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.places {
		if p.n > 0 {
			u.Records, u.Bytes = u.Records+1, u.Bytes+p.n
		}
	}
	return u, nil
}
