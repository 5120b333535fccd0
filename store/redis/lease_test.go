package redis

import (
	"bufio"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/storetest"
)

// wantBorrowed tries to acquire leases and releases them.
func wantBorrowed(t *testing.T, s *Store, want []bool, keys ...key.Key) {
	t.Helper()
	leased, release, err := s.TryLease(t.Context(), keys)
	if err != nil || !slices.Equal(leased, want) {
		t.Fatalf("leased %v, %v, want %v", leased, err, want)
	}
	release()
}

// TestLeasesOfTwoStores checks that leases apply to all clients of the server, and are renewed while they are held.
func TestLeasesOfTwoStores(t *testing.T) {
	server := startServer(t)
	o := Options{URL: server.url(), LeaseTime: 100 * time.Millisecond}
	a, b := open(t, o), open(t, o)
	release, err := a.Lease(t.Context(), storetest.Key(1))
	if err != nil {
		t.Fatal(err)
	}
	some, releaseSome, err := a.TryLease(t.Context(), []key.Key{storetest.Key(2), storetest.Key(3)})
	if err != nil || !some[0] || !some[1] {
		t.Fatal(some, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*o.LeaseTime)
	defer stop()
	if _, err := b.Lease(ctx, storetest.Key(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("what another store holds: %v, want the context's error", err)
	}
	wantBorrowed(t, b, []bool{false, true, false, false}, storetest.Key(1), storetest.Key(4), storetest.Key(2), storetest.Key(3))
	got := make(chan func())
	go func() {
		release, err := b.Lease(t.Context(), storetest.Key(1))
		if err != nil {
			t.Error(err)
			release = func() {}
		}
		got <- release
	}()
	release()
	(<-got)()
	releaseSome()
	wantBorrowed(t, b, []bool{true, true, true}, storetest.Key(1), storetest.Key(2), storetest.Key(3))
	if n := server.client.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d names are left", n)
	}
}

// TestLostLease checks that a lost lease belongs to another process, and is not released by its previous owner.
func TestLostLease(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url(), LeaseTime: time.Second})
	k := storetest.Key(1)
	release, err := s.Lease(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.client.Set(t.Context(), s.leaseName(k), "another", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.renewAll(t.Context())
	release()
	if v := server.client.Get(t.Context(), s.leaseName(k)).Val(); v != "another" {
		t.Errorf("the lease is %q's", v)
	}
	// A lease that only expired is renewed while it is held.
	if err := server.client.Del(t.Context(), s.leaseName(k)).Err(); err != nil {
		t.Fatal(err)
	}
	if release, err = s.Lease(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := server.client.Del(t.Context(), s.leaseName(k)).Err(); err != nil {
		t.Fatal(err)
	}
	s.lending.Lock()
	s.renewAll(t.Context())
	s.lending.Unlock()
	if v := server.client.Get(t.Context(), s.leaseName(k)).Val(); v != s.token {
		t.Errorf("a lease that ended is %q's", v)
	}
	release()
	if err := server.client.Get(t.Context(), s.leaseName(k)).Err(); !errors.Is(err, goredis.Nil) {
		t.Errorf("after its end: %v", err)
	}
	// A lease whose acknowledgement was lost can be acquired again.
	if err := server.client.Set(t.Context(), s.leaseName(k), s.token, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	wantBorrowed(t, s, []bool{true}, k)
}

// TestKilledOwner checks that leases of a killed process expire.
func TestKilledOwner(t *testing.T) {
	server := startServer(t)
	o := Options{URL: server.url(), LeaseTime: 500 * time.Millisecond}
	s := open(t, o)
	for range 3 {
		cmd, out := child(t, "hold", server.url(), "")
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
			t.Fatalf("the child says %q, %v", line, err)
		}
		wantBorrowed(t, s, []bool{false, false, true}, storetest.Key(1), storetest.Key(2), storetest.Key(3))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		release, err := s.Lease(t.Context(), storetest.Key(1))
		if err != nil {
			t.Fatal(err)
		}
		release()
		if release, err = s.Lease(t.Context(), storetest.Key(2)); err != nil {
			t.Fatal(err)
		}
		release()
	}
}
