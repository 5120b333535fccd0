package redis

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// TestLeasesThatAreNoCallers checks that a lease without an early expiry has no owner and can be acquired.
func TestLeasesThatAreNoCallers(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url()})
	k, ctx := storetest.Key(1), t.Context()
	name := s.leaseName(k)
	for what, put := range map[string]func() error{
		"without an end": func() error { return server.client.Set(ctx, name, "x", 0).Err() },
		"for days":       func() error { return server.client.Set(ctx, name, "x", 100*time.Hour).Err() },
		"a list":         func() error { return server.client.RPush(ctx, name, "x").Err() },
		"a list that ends": func() error {
			return errors.Join(server.client.RPush(ctx, name, "x").Err(), server.client.Expire(ctx, name, time.Minute).Err())
		},
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		wantBorrowed(t, s, []bool{true}, k)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		release, err := s.Lease(ctx, k)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if left := server.client.PTTL(ctx, name).Val(); left <= 0 || left > s.o.LeaseTime {
			t.Errorf("%s: taken it lasts %v", what, left)
		}
		release()
		if n := server.client.Exists(ctx, name).Val(); n != 0 {
			t.Errorf("%s: it is there after its end", what)
		}
	}
	if err := server.client.Set(ctx, name, "another", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	wantBorrowed(t, s, []bool{false}, k)
}

// TestDamagedCount checks that an invalid count disables nothing: it is removed, and the bytes are counted again.
func TestDamagedCount(t *testing.T) {
	server, log := startServer(t), &logged{}
	s := open(t, Options{URL: server.url(), MaxBytes: -1, Logger: log.logger()}) // no other store counts
	ctx := t.Context()
	for i, count := range []string{"garbage", strconv.FormatInt(1<<63-1, 10), "1e9", "-5000"} {
		if err := server.client.Set(ctx, s.countName(), count, 0).Err(); err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			if err := s.Put(ctx, store.Record{Key: storetest.Key(2*i + j), Payload: []byte("stored")}); err != nil {
				t.Errorf("%s: %v", count, err)
			}
		}
		if _, err := s.Get(ctx, storetest.Key(2*i)); err != nil {
			t.Errorf("%s: %v", count, err)
		}
		if n, err := s.count(ctx); err != nil || n <= 0 || n > 1<<20 {
			t.Errorf("%s: it counts %d, %v", count, n, err)
		}
		if lines := log.lines(); lines != i+1 || !strings.Contains(log.String(), "larder:bytes1") {
			t.Errorf("%s: %d lines:\n%s", count, lines, log)
		}
	}
	if err := s.recount(ctx, -1<<40, 0); err != nil {
		t.Error(err)
	}
	if n := server.client.Exists(ctx, s.countName()).Val(); n != 0 {
		t.Error("a count below nothing stays")
	}
}

// TestWhatIsSaidOfErrors checks that errors quote a server without the password, without the data sent, and shortened.
func TestWhatIsSaidOfErrors(t *testing.T) {
	for _, reply := range []string{
		"-ERR user 'user' with 'hunter2 %' or 'hunter2+%25' may not\r\n",
		"-ERR unknown command 'eval', with args beginning with: 'local v' 'larder:l1:\x00\x01'\r\n",
		"-ERR Error running script (call to f_1): @user_script:1: user script: local v = redis.call(\x01)\r\n",
		"-ERR " + strings.Repeat("all of it \x01", 5000) + "\r\n",
	} {
		log := &logged{}
		address := strings.Replace(answer(t, func(c net.Conn) { _, _ = c.Write([]byte(reply)) }), "redis://", "redis://user:hunter2%20%25@", 1)
		s := open(t, Options{URL: address, Logger: log.logger()})
		_, err := s.Usage(t.Context())
		if err == nil {
			t.Fatalf("%.50q is not an error", reply)
		}
		for _, text := range []string{err.Error(), log.String()} {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "local") || strings.ContainsAny(text, "\x00\x01") || len(text) > 800 {
				t.Errorf("%.50q is reported as\n%s", reply, text)
			}
		}
	}
}

// TestLostAgainAndAgain checks that a server that fails repeatedly is avoided for longer each time.
func TestLostAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(Options{URL: "redis://host", Logger: (&logged{}).logger()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var pauses time.Duration
		const losses = 8
		for range losses {
			s.back.Store(time.Now().UnixNano())
			s.lose(errNonsense)
			pauses += time.Duration(s.pause.Load())
			s.away.Store(nil)
		}
		if last := time.Duration(s.pause.Load()); last != lastPause || pauses < 10*time.Minute {
			t.Errorf("%d losses: pauses of %v, the last %v", losses, pauses, last)
		}
		s.back.Store(time.Now().Add(-20 * lastPause).UnixNano()) // it worked for long
		s.lose(errNonsense)
		if first := time.Duration(s.pause.Load()); first != firstRetry {
			t.Errorf("after a long time it is tried after %v", first)
		}
	})
}

// TestSlowServer checks that slow answers are reported once.
func TestSlowServer(t *testing.T) {
	log := &logged{}
	s := open(t, Options{URL: "redis://host", Logger: log.logger()})
	for range 100 {
		s.took(time.Millisecond)
	}
	if log.lines() != 0 {
		t.Errorf("a fast one: %s", log)
	}
	for range 100 {
		s.took(400 * time.Millisecond)
	}
	if text := log.String(); log.lines() != 1 || !strings.Contains(text, "slow") {
		t.Errorf("the log says\n%s", text)
	}
}

// TestServerThatIsTooSlow checks that a server whose answers take seconds is not used for a while.
func TestServerThatIsTooSlow(t *testing.T) {
	log := &logged{}
	s := open(t, Options{URL: "redis://127.0.0.1:1", Logger: log.logger()})
	for range 40 {
		s.took(1900 * time.Millisecond)
	}
	if _, err := s.Usage(t.Context()); !errors.Is(err, ErrAway) || !strings.Contains(err.Error(), "replies take") {
		t.Errorf("a request of it: %v", err)
	}
	if text := log.String(); strings.Count(text, "cannot be used") != 1 {
		t.Errorf("the log says\n%s", text)
	}
}
