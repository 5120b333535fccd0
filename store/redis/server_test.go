package redis

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// A server is a Redis server of one test.
type server struct {
	socket string
	args   []string
	cmd    *exec.Cmd
	client *goredis.Client
}

// program is Redis or Valkey, or "".
var program = sync.OnceValue(func() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
})

// startServer starts a server that listens on its own socket.
func startServer(tb testing.TB, args ...string) *server {
	tb.Helper()
	if program() == "" {
		tb.Skip("neither redis-server nor valkey-server is on the PATH (Debian: apt-get install redis-server)")
	}
	dir := tb.TempDir()
	s := &server{socket: filepath.Join(dir, "s"), args: append([]string{"--save", "", "--appendonly", "no", "--dir", dir}, args...)}
	s.client = goredis.NewClient(&goredis.Options{Network: "unix", Addr: s.socket, MaxRetries: -1})
	tb.Cleanup(func() {
		s.stop()
		_ = s.client.Close()
	})
	s.start(tb)
	return s
}

func (s *server) start(tb testing.TB) {
	tb.Helper()
	s.cmd = exec.CommandContext(context.Background(), program(), append([]string{"--port", "0", "--unixsocket", s.socket}, s.args...)...)
	var output bytes.Buffer
	s.cmd.Stdout, s.cmd.Stderr = &output, &output
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	answers := func() bool {
		err := s.client.Ping(context.Background()).Err()
		return err == nil || goredis.HasErrorPrefix(err, "NOAUTH") || goredis.HasErrorPrefix(err, "LOADING")
	}
	for start := time.Now(); !answers(); <-time.After(2 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			s.stop()
			tb.Fatalf("the server does not answer: %s", output.String())
		}
	}
}

// stop kills the server.
func (s *server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) url() string { return "unix://" + s.socket }

// A logged records log lines.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) lines() int { return bytes.Count([]byte(l.String()), []byte("\n")) }

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// open opens a store, and closes it when the test ends.
func open(tb testing.TB, o Options) *Store {
	tb.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

var mediums atomic.Int64

// medium gives each store its own names in one server.
func medium(server *server) storetest.Medium {
	return func(tb testing.TB) func() store.Store {
		prefix := fmt.Sprintf("medium[%d]*:", mediums.Add(1))
		return func() store.Store {
			s, err := Open(Options{URL: server.url(), Prefix: prefix, MaxRecord: 16 << 20, MaxBytes: -1})
			if err != nil {
				tb.Fatal(err)
			}
			return s
		}
	}
}

func TestConformance(t *testing.T) { storetest.Run(t, medium(startServer(t))) }
