// Package server makes batches for other programs of the same user and machine: one
// process for each user and cache folder reads, decodes, maps, caches and batches for
// all of them, and they look at the bytes in memory that both have.
//
// docs/reference/protocol.md is the contract, to the byte. A [Server] takes connections of a Unix
// socket; each has one reader of package loader at a time, whose batches are written into
// a ring of its own. Where the socket of a cache folder is says [Socket].
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

// Options say how a server works.
type Options struct {
	Larder  *larder.Larder // keeps results
	Cache   string         // the folder of that, for clients to see
	Version string         // of the program
	// Idle is how long nobody is connected before the server ends; 0 is for ever.
	Idle time.Duration
	// Limits is told of the limits of each flow that is opened. It may be nil.
	Limits func(flow.Limits)
	Pool   *pool.Pool // bounds what is done at once; nil is one of its own
	// AheadBytes bounds the batches that are made and not given back, of all readers together,
	// each of which may have four of them in any case; 0 stands for 256 MiB.
	AheadBytes int64
	// Tidy is called when a pipeline is not used any more: memory may be given back to the
	// system. It may be nil.
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

// A Server serves clients. Its methods may be called by many goroutines.
type Server struct {
	options   Options
	pool      *pool.Pool
	log       *slog.Logger
	pipelines pipelines
	ahead     *loader.Budget
	calls     calls
	began     time.Time
	folder    os.FileInfo // of the cache, as it was then; nil if there was none

	ctx    context.Context // of all that is done
	cancel context.CancelFunc

	mu      sync.Mutex
	conns   map[*conn]bool
	remote  map[*remoteReader]bool
	next    int           // number of the next connection
	changed chan struct{} // closed when a connection came or went
	ended   chan struct{} // closed when no more are to come
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
		s.folder = info
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// mostConnections is how many clients may be connected at once.
const mostConnections = 1024

// Serve takes connections of a listener of a Unix socket until ctx ends, a client has it
// end, or nobody has been connected for a while. It is called once. Then it closes the listener, and waits
// for those who are connected; if ctx has ended it disconnects them.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	defer s.cancel()
	defer context.AfterFunc(ctx, s.cancel)()
	ctx = s.ctx
	var work sync.WaitGroup
	work.Go(func() { s.wait(ctx); s.End(); _ = l.Close() })
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
			s.End()
			_ = l.Close() // first, so that who was connected just now comes to the next server
			_ = c.Close()
			continue
		}
		if conn, err := s.accept(c); err != nil {
			s.log.Warn("a connection was refused", "error", err)
		} else {
			work.Go(func() { s.handle(conn) })
		}
	}
	s.End()
	work.Go(func() {
		<-ctx.Done()
		s.disconnect()
	})
	s.drain(ctx)
	s.cancel()
	work.Wait()
	return failed
}

// End has the server end when those who are connected have left.
func (s *Server) End() {
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

// wait returns when no more connections are to come.
func (s *Server) wait(ctx context.Context) {
	for {
		s.mu.Lock()
		n, changed := len(s.conns), s.changed
		s.mu.Unlock()
		var idle <-chan time.Time
		if n == 0 && s.options.Idle > 0 {
			idle = time.After(s.options.Idle) // the collector takes back a timer that is not waited for
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

// drain returns when nobody is connected.
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

// errRemoved is that what the server has is not what lies in its cache folder.
var errRemoved = errors.New("the cache folder was removed: the server ends, and the next one begins with what is there")

// isRemoved reports whether the cache folder is another one, or gone: who removes it does
// not want to be handed out what was in it.
func (s *Server) isRemoved() bool {
	if s.folder == nil {
		return false
	}
	now, err := os.Stat(s.options.Cache)
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(s.folder, now)
}

// accept takes a connection of our own user.
func (s *Server) accept(c *net.UnixConn) (*conn, error) {
	defer c.Close() // what is used is another descriptor of it
	uid, pid, err := peer(c)
	if err != nil {
		return nil, err
	}
	if uid != os.Getuid() {
		return nil, errors.New("it is of another user")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= mostConnections {
		return nil, errors.New("there are too many")
	}
	file, err := c.File() // which blocks: a thread in a read is woken sooner than the poller
	if err != nil {
		return nil, err
	}
	s.next++
	conn := newConn(s, s.next, file, pid)
	s.conns[conn] = true
	s.tell()
	return conn, nil
}

// handle serves a connection to its end.
func (s *Server) handle(c *conn) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
		s.tell()
	}()
	c.serve()
}

func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}
