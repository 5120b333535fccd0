// Package redis implements a store of small results in a Redis (or Valkey) server that many
// machines share.
//
// It is the far one of two stores: see [tier.Share]. Everything in it is a cache. A
// damaged, evicted or foreign record is a miss. A server that is unreachable, full or
// read-only stores nothing: results are computed without further waiting, and the logger
// receives one warning.
//
// Open refuses a server that is part of a cluster.
//
// [tier.Share]: https://pkg.go.dev/github.com/larder-data/larder/store/tier#Share
package redis

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/internal/lease"
)

// ErrAway is wrapped by the errors of operations that need the server. Get and similar
// methods find nothing then, and leases hold within the process.
var ErrAway = errors.New("redis: the server cannot be used")

const (
	defaultPrefix    = "larder:"
	defaultMaxBytes  = 1 << 30
	defaultMaxRecord = 1 << 20
	maxRecord        = 256 << 20
	defaultTimeout   = 2 * time.Second
	defaultLeaseTime = 10 * time.Second
	maxLeaseTime     = time.Hour
	maxConnections   = 100 // opened on demand; more than the tasks of a pool that wait for other machines
)

// Options are the settings of a Store. All users of a server should use the same.
type Options struct {
	// URL names the server, with user and password if it requires them:
	// redis://user:password@host:6379/0, rediss:// for TLS (certificates are checked
	// against those that the system trusts), or unix://user:password@/path?db=0.
	URL string
	// Prefix begins the names of all keys in the server; "" means "larder:".
	Prefix string
	// MaxBytes caps the stored bytes, including about what the server needs in addition: 0
	// means 1 GiB, below 0 no cap. The lowest cap of the users that put counts.
	MaxBytes int64
	// MaxRecord is how many bytes a record may have, with its provenance; a larger one is
	// neither put nor read. 0 means 1 MiB; the most is 256 MiB.
	MaxRecord int64
	// Timeout bounds each wait for the server. 0 means 2 s.
	Timeout time.Duration
	// LeaseTime is how long a lease outlives a killed process; a live process renews it
	// three times in that time. 0 means 10 s; less than 100 ms or more than an hour is an
	// error.
	LeaseTime time.Duration
	// Logger receives warnings about damage and a server that cannot be used. Nil means
	// slog.Default().
	Logger *slog.Logger
}

// A Store stores records in a server. Use Open to create one.
type Store struct {
	o      Options
	client *goredis.Client
	shown  string // the server, without user and password
	log    *slog.Logger

	secrets *strings.Replacer // removes user and password from messages of the server

	closed context.Context // ends background tasks
	close  context.CancelFunc
	tasks  sync.WaitGroup
	start  sync.Mutex // guards the start and end of tasks

	away         atomic.Pointer[error] // why the server cannot be used, nil if it can
	reported     atomic.Int64          // when that was logged, ns
	pause        atomic.Int64          // before the next try of a lost server, ns
	back         atomic.Int64          // when it became usable again, ns
	mean         atomic.Int64          // mean time of an answer, ns
	answers      atomic.Int64          // number of answers
	slowReported atomic.Bool           // a warning about slow answers was logged
	damages      atomic.Int64          // damaged records
	unfit        atomic.Pointer[unfit] // why nothing can be written, nil if it can
	counted      atomic.Int64          // bytes stored, as the server counts them
	collects     atomic.Bool           // this process is evicting
	rest         atomic.Int64          // until when evicting is useless, ns
	token        string                // of this store's leases
	table        lease.Table           // leases within this process
	lending      sync.Mutex            // held while leases are renewed or changed
	held         map[key.Key]struct{}  // leases in the server
	renewing     bool                  // a task renews
}

var _ store.Store = (*Store)(nil)

// Open returns the store in a server. It does not contact the server, which may be
// reachable later.
func Open(o Options) (*Store, error) {
	client, shown, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	client.DialTimeout, client.ReadTimeout, client.WriteTimeout, client.PoolTimeout = o.Timeout, o.Timeout, o.Timeout, o.Timeout
	client.MaxRetries = -1 // after a failure, compute instead
	client.PoolSize = maxConnections
	client.ContextTimeoutEnabled = true
	client.Protocol, client.DisableIdentity = 2, true // nothing that a server may not support
	client.Dialer = bounded(client, max(o.MaxRecord, maxManifest)+firstRead)
	s := &Store{
		o: o, client: goredis.NewClient(client), shown: shown, secrets: secrets(client.Username, client.Password),
		log: o.Logger, token: rand.Text(), held: map[key.Key]struct{}{},
	}
	s.closed, s.close = context.WithCancel(context.Background())
	return s, nil
}

func (o *Options) complete() error {
	o.Prefix = cmp.Or(o.Prefix, defaultPrefix)
	o.MaxBytes = max(cmp.Or(o.MaxBytes, defaultMaxBytes), -1)
	o.MaxRecord = cmp.Or(o.MaxRecord, defaultMaxRecord)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.LeaseTime = cmp.Or(o.LeaseTime, defaultLeaseTime)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	switch {
	case o.MaxRecord < headerSize || o.MaxRecord > maxRecord:
		return fmt.Errorf("redis: MaxRecord is %d; give %d to %d", o.MaxRecord, headerSize, maxRecord)
	case o.Timeout < time.Millisecond:
		return fmt.Errorf("redis: Timeout is %v; give 1ms or more", o.Timeout)
	case o.LeaseTime < 100*time.Millisecond || o.LeaseTime > maxLeaseTime:
		return fmt.Errorf("redis: LeaseTime is %v; give 100ms to %v", o.LeaseTime, maxLeaseTime)
	}
	return nil
}

// String returns the address of the server, without user and password.
func (s *Store) String() string { return s.shown }

// Close ends the use of the store. Records obtained from it stay valid.
func (s *Store) Close() error {
	s.start.Lock()
	s.close()
	s.start.Unlock()
	s.tasks.Wait()
	s.sayDamages()
	if err := s.client.Close(); err != nil && !errors.Is(err, goredis.ErrClosed) {
		return fmt.Errorf("redis: %s: %w", s.shown, err)
	}
	return nil
}

// task runs f in the background until the store is closed.
func (s *Store) task(f func(ctx context.Context)) {
	s.start.Lock()
	defer s.start.Unlock()
	if s.closed.Err() == nil {
		s.tasks.Go(func() { f(s.closed) })
	}
}

// recordName returns the name of a record. Names contain the version of the format, so
// programs of two versions do not see each other's records.
func (s *Store) recordName(k key.Key) string { return s.o.Prefix + recordKind + string(k[:]) }
func (s *Store) leaseName(k key.Key) string  { return s.o.Prefix + leaseKind + string(k[:]) }
func (s *Store) manifestName(name string) string {
	d := key.DigestOf([]byte(name))
	return s.o.Prefix + manifestKind + string(d[:])
}
func (s *Store) countName() string   { return s.o.Prefix + "bytes1" }
func (s *Store) collectName() string { return s.o.Prefix + "collect1" }

const (
	recordKind   = "r1:"
	leaseKind    = "l1:"
	manifestKind = "m1:"
)

// errClosed is returned by a store after Close.
var errClosed = fmt.Errorf("redis: the store was closed: %w", fs.ErrClosed)
