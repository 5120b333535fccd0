package redis

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// passes checks that work continues with a store whose server is unusable.
func passes(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	if _, err := s.Get(ctx, storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v, want ErrNotFound", err)
	}
	if records, err := s.GetMany(ctx, []keyOf{storetest.Key(1), storetest.Key(2)}); err != nil || len(records) != 2 || !records[0].Key.IsZero() {
		t.Errorf("GetMany: %v, %v", records, err)
	}
	if ok, err := s.Has(ctx, storetest.Key(1)); ok || err != nil {
		t.Errorf("Has: %v, %v", ok, err)
	}
	if err := s.Put(ctx, store.Record{Key: storetest.Key(1)}); !errors.Is(err, ErrAway) {
		t.Errorf("Put: %v, want ErrAway", err)
	}
	release, err := s.Lease(ctx, storetest.Key(1))
	if err != nil {
		t.Fatalf("Lease: %v", err)
	}
	leased, both, err := s.TryLease(ctx, []keyOf{storetest.Key(1), storetest.Key(2)})
	if err != nil || leased[0] || !leased[1] {
		t.Errorf("TryLease: %v, %v, want what the process has", leased, err)
	}
	both()
	release()
	if _, err := s.Usage(ctx); !errors.Is(err, ErrAway) {
		t.Errorf("Usage: %v, want ErrAway", err)
	}
	if _, err := s.Manifest(ctx, "m"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Manifest: %v, want ErrNotFound", err)
	}
}

// saysOnce checks what the log says about a server.
func saysOnce(t *testing.T, log *logged, what string) {
	t.Helper()
	text := log.String()
	if strings.Count(text, "cannot be used") != 1 || !strings.Contains(text, what) {
		t.Errorf("the log does not say %q once:\n%s", what, text)
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("the log has the password:\n%s", text)
	}
}

func TestNoServer(t *testing.T) {
	log := &logged{}
	s := open(t, Options{URL: "unix://user:hunter2@" + t.TempDir() + "/none", Logger: log.logger()})
	for range 3 {
		passes(t, s)
	}
	saysOnce(t, log, "no such file")
}

// TestServerThatSaysNothing checks that a server that accepts connections but never answers costs one wait in total, not
// one per call.
func TestServerThatSaysNothing(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var came atomic.Int64
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			defer c.Close()
		}
	}()
	log := &logged{}
	s := open(t, Options{URL: "redis://user:hunter2@" + listener.Addr().String(), Timeout: 100 * time.Millisecond, Logger: log.logger()})
	for i := range 1000 {
		if _, err := s.Get(t.Context(), storetest.Key(i)); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if n := came.Load(); n > 10 {
		t.Errorf("%d connections for 1000 calls", n)
	}
	passes(t, s)
	saysOnce(t, log, "timeout")
}

// TestRestart checks that work continues when the server stops, and that it is used again after a restart.
func TestRestart(t *testing.T) {
	server, log := startServer(t), &logged{}
	s := open(t, Options{URL: server.url(), Logger: log.logger()})
	ctx := t.Context()
	if err := s.Put(ctx, store.Record{Key: storetest.Key(1), Payload: []byte("before")}); err != nil {
		t.Fatal(err)
	}
	release, err := s.Lease(ctx, storetest.Key(5))
	if err != nil {
		t.Fatal(err)
	}
	server.stop()
	passes(t, s)
	release()
	server.start(t)
	for start := time.Now(); s.Put(ctx, store.Record{Key: storetest.Key(2)}) != nil; <-time.After(10 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatalf("the server is not used again: %s", log)
		}
	}
	if _, err := s.Get(ctx, storetest.Key(2)); err != nil {
		t.Error(err)
	}
	saysOnce(t, log, "can be used again")
	// A lease from before the outage can be acquired again without a pause.
	if again, err := s.Lease(ctx, storetest.Key(5)); err != nil {
		t.Error(err)
	} else {
		again()
	}
}

func TestWrongPassword(t *testing.T) {
	server, log := startServer(t, "--requirepass", "right"), &logged{}
	passes(t, open(t, Options{URL: strings.Replace(server.url(), "unix://", "unix://:hunter2@", 1), Logger: log.logger()}))
	saysOnce(t, log, "WRONGPASS")
	right := open(t, Options{URL: strings.Replace(server.url(), "unix://", "unix://:right@", 1)})
	if err := right.Put(t.Context(), store.Record{Key: storetest.Key(1)}); err != nil {
		t.Error(err)
	}
}

func TestClusterIsRefused(t *testing.T) {
	server, log := startServer(t, "--cluster-enabled", "yes", "--port", "0"), &logged{}
	passes(t, open(t, Options{URL: server.url(), Logger: log.logger()}))
	saysOnce(t, log, "a Redis cluster is not supported")
}

// TestReadOnly checks that a user without write permission can read.
func TestReadOnly(t *testing.T) {
	reader := "user reader on >hunter2 ~* -@all +@read +ping"
	for name, c := range map[string]struct{ setting, user string }{
		"a replica": {"", ""},
		"a user":    {reader, "reader:hunter2@"},
	} {
		t.Run(name, func(t *testing.T) {
			server, log := startServer(t), &logged{}
			all := open(t, Options{URL: server.url()})
			ctx := t.Context()
			if err := all.Put(ctx, store.Record{Key: storetest.Key(1), Payload: []byte("stored")}); err != nil {
				t.Fatal(err)
			}
			setting := []any{"replicaof", "127.0.0.1", "1"}
			if c.setting != "" {
				setting = []any{"acl", "setuser"}
				for _, word := range strings.Fields(c.setting)[1:] {
					setting = append(setting, word)
				}
			}
			if err := server.client.Do(ctx, setting...).Err(); err != nil {
				t.Fatal(err)
			}
			s := open(t, Options{URL: strings.Replace(server.url(), "unix://", "unix://"+c.user, 1), Logger: log.logger()})
			for range 3 {
				if r, err := s.Get(ctx, storetest.Key(1)); err != nil || string(r.Payload) != "stored" {
					t.Fatalf("Get: %v, %s", err, log)
				}
				if err := s.Put(ctx, store.Record{Key: storetest.Key(2)}); !errors.Is(err, store.ErrReadOnly) {
					t.Errorf("Put: %v, want ErrReadOnly", err)
				}
				release, err := s.Lease(ctx, storetest.Key(2))
				if err != nil {
					t.Fatal(err)
				}
				release()
			}
			if text := log.String(); strings.Count(text, "not shared") != 1 || strings.Contains(text, "hunter2") || log.lines() != 1 {
				t.Errorf("the log says\n%s", text)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	s, err := Open(Options{URL: startServer(t).url()})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, get := s.Get(t.Context(), storetest.Key(1))
	_, lease := s.Lease(t.Context(), storetest.Key(1))
	for what, err := range map[string]error{"Get": get, "Lease": lease, "Put": s.Put(t.Context(), store.Record{Key: storetest.Key(1)})} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	if fmt.Sprint(s) == "" {
		t.Error("it has no name")
	}
}
