// Package server provides batches for other programs of the same user and machine.
// One process per user and cache directory reads, decodes, maps, caches and batches
// for all of them, and they read the bytes in shared memory.
//
// docs/reference/protocol.md specifies the protocol. A [Server] accepts connections
// on a Unix socket. Each has one reader of package loader at a time, whose batches
// are written into a ring of its own. [Socket] returns the path of the socket for a
// cache directory.
package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/pool"
)

// Options configure a server.
type Options struct {
	Larder  *larder.Larder // caches results
	Cache   string         // its directory, for clients
	Version string         // of the program
	// Idle is how long the server stays without a connection before it ends; 0
	// means forever.
	Idle time.Duration
	// Limits, if not nil, receives the limits of each flow that is opened.
	Limits func(flow.Limits)
	Pool   *pool.Pool // bounds the concurrency; nil means a new pool
	// AheadBytes bounds the batches of all readers together that are ready and not
	// released; 0 means 256 MiB. Each reader may have four batches in any case.
	AheadBytes int64
	// Tidy, if not nil, is called when a pipeline is no longer used, so that memory
	// may be returned to the system.
	Tidy func()
	Log  *slog.Logger // nil is slog.Default()
}

func (o *Options) limits(l flow.Limits) {
	if o.Limits != nil {
		o.Limits(l)
	}
}

func (s *Server) tidy() {
	if s.options.Tidy != nil {
		s.options.Tidy()
	}
}

// A Server serves clients. It is safe for concurrent use.
type Server struct {
	options   Options
	pool      *pool.Pool
	log       *slog.Logger
	pipelines pipelines
	ahead     *loader.Budget
	calls     calls
	began     time.Time
	dir       os.FileInfo // of the cache at the start; nil if there was none

	ctx    context.Context // of all work
	cancel context.CancelFunc

	mu      sync.Mutex
	conns   map[*conn]bool
	remote  map[*remoteReader]bool
	next    int           // number of the next connection
	changed chan struct{} // closed when a connection came or went
	ended   chan struct{} // closed when no more connections are accepted
	ending  bool
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{options: o, pool: o.Pool, log: o.Log, began: time.Now(), conns: map[*conn]bool{}, remote: map[*remoteReader]bool{}, changed: make(chan struct{}), ended: make(chan struct{})}
	if s.pool == nil {
		s.pool = pool.New(0)
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.pipelines.server = s
	s.ahead = loader.NewBudget(cmp.Or(o.AheadBytes, defaultRing))
	if info, err := os.Stat(o.Cache); err == nil {
		s.dir = info
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// maxConnections bounds the number of clients.
const maxConnections = 1024

// Serve accepts connections of a Unix socket until ctx ends, a client requests the
// end, or no client has been connected for a while. It must be called once. Then it
// closes the listener, and waits for connected clients; if ctx has ended it
// disconnects them.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	defer s.cancel()
	defer context.AfterFunc(ctx, s.cancel)()
	ctx = s.ctx
	var work sync.WaitGroup
	work.Go(func() { s.wait(ctx); s.Shutdown(); _ = l.Close() })
	var failed error
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			if !s.isEnding() && !errors.Is(err, net.ErrClosed) {
				failed = err
			}
			break
		}
		if s.isRemoved() {
			s.log.Warn(errRemoved.Error())
			s.Shutdown()
			_ = l.Close() // first, so that a client that has just connected goes to the next server
			_ = c.Close()
			continue
		}
		if conn, err := s.accept(c); err != nil {
			s.log.Warn("a connection was refused", "error", err)
		} else {
			work.Go(func() { s.handle(conn) })
		}
	}
	s.Shutdown()
	work.Go(func() {
		<-ctx.Done()
		s.disconnect()
	})
	s.drain(ctx)
	s.cancel()
	work.Wait()
	return failed
}

// Shutdown makes the server end when its clients have disconnected.
func (s *Server) Shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.ending = true
		close(s.ended)
	}
}

func (s *Server) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

// firstClient is the least time for which a server waits for its first client, which may
// have started it and be busy.
const firstClient = 5 * time.Second

// wait returns when no more connections are to be accepted.
func (s *Server) wait(ctx context.Context) {
	patience := max(s.options.Idle, firstClient)
	for {
		s.mu.Lock()
		n, changed := len(s.conns), s.changed
		s.mu.Unlock()
		var idle <-chan time.Time
		if n > 0 {
			patience = s.options.Idle
		} else if s.options.Idle > 0 {
			idle = time.After(patience) // the collector frees an unused timer
		}
		select {
		case <-changed:
		case <-s.ended:
			return
		case <-ctx.Done():
			return
		case <-idle:
			return
		}
	}
}

// drain returns when no client is connected.
func (s *Server) drain(ctx context.Context) {
	for {
		s.mu.Lock()
		n, changed := len(s.conns), s.changed
		s.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// disconnect ends all connections.
func (s *Server) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.end()
	}
}

// errRemoved says that the cache directory was replaced or removed.
var errRemoved = errors.New("the cache directory was removed: the server ends, and the next one begins with what is there")

// isRemoved reports whether the cache directory was replaced or removed. The server
// must then not return its old content.
func (s *Server) isRemoved() bool {
	if s.dir == nil {
		return false
	}
	now, err := os.Stat(s.options.Cache)
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(s.dir, now)
}

// accept accepts a connection of the same user.
func (s *Server) accept(c *net.UnixConn) (*conn, error) {
	defer c.Close() // the conn uses a duplicate descriptor
	uid, pid, err := peer(c)
	if err != nil {
		return nil, err
	}
	if uid != os.Getuid() {
		return nil, errors.New("it is of another user")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= maxConnections {
		return nil, errors.New("there are too many")
	}
	file, err := c.File() // blocking, because a thread in a read wakes up sooner than the poller
	if err != nil {
		return nil, err
	}
	s.next++
	conn := newConn(s, s.next, file, pid)
	s.conns[conn] = true
	s.notifyChange()
	return conn, nil
}

// handle serves a connection to its end.
func (s *Server) handle(c *conn) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
		s.notifyChange()
	}()
	c.serve()
}

func (s *Server) notifyChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}
