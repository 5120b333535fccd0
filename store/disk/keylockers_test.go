//go:build unix

package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// lendEnv tells a child process how it leases keys.
const lendEnv = "LARDER_DISK_TEST_LEND"

// mediaOf are the media on which keys are leased in each way: by the table, if the file system supports it, and by
// bytes.
var mediaOf = map[string]vfs.Fail{
	"the table": nil,
	"bytes": func(op vfs.Op, _ string) error {
		if op == vfs.OpMap {
			return errors.ErrUnsupported
		}
		return nil
	},
}

func eachKeyLocker(t *testing.T, test func(t *testing.T, fail vfs.Fail)) {
	for by, fail := range mediaOf {
		t.Run(by, func(t *testing.T) {
			t.Setenv(lendEnv, by)
			test(t, fail)
		})
	}
}

// openBy opens a store that is closed with the test.
func openBy(t *testing.T, dir string, fail vfs.Fail) *Store {
	t.Helper()
	s, err := openOn(Options{Dir: dir, Logger: quiet}, fail)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// ofOneWord returns n keys that belong to one word of the table.
var ofOneWord = sync.OnceValue(func() (keys []key.Key) {
	const word = 7
	for i := 0; len(keys) < 6; i++ {
		if k := storetest.Key(i); format.Fingerprint(k)>>tagBits == word {
			keys = append(keys, k)
		}
	}
	return keys
})

// contended are keys for which processes compete: some are of one word.
func contended() []key.Key { return append(ofOneWord(), storetest.Key(1), storetest.Key(2)) }

// contend leases random keys, one or many in a call, and writes its owner under each lease. If another process writes
// during that time, both had the lease.
func contend(s *Store, args []string) error {
	rounds, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	keys := contended()
	for range rounds {
		from := random.IntN(len(keys))
		mine := keys[from : from+1+random.IntN(len(keys)-from)]
		leased, release, err := leaseSome(s, mine, random.IntN(2) == 0)
		if err != nil {
			return err
		}
		for i, k := range mine {
			if err == nil && leased[i] {
				err = alone(filepath.Join(args[0], k.String()))
			}
		}
		release()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, "round"); err != nil {
			return err
		}
	}
	return nil
}

// leaseSome leases those of the keys that it can, or waits for the first.
func leaseSome(s *Store, keys []key.Key, many bool) (leased []bool, release func(), err error) {
	if many {
		return s.TryLease(context.Background(), keys)
	}
	leased = make([]bool, len(keys))
	leased[0] = true
	release, err = s.Lease(context.Background(), keys[0])
	return leased, release, err
}

// alone writes the owner of a lease, and checks that it stays for a while.
func alone(path string) error {
	me := strconv.Itoa(os.Getpid())
	if err := os.WriteFile(path, []byte(me), 0o666); err != nil {
		return err
	}
	for range 20 {
		runtime.Gosched()
		if now, err := os.ReadFile(path); err != nil || len(now) > 0 && string(now) != me {
			return fmt.Errorf("%s has the lease as well, %w", now, err)
		}
	}
	return nil
}

// hold takes the lease of a key, prints a line and holds it.
func hold(s *Store, args []string) error {
	i, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	if _, err := s.Lease(context.Background(), contended()[i]); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, "held"); err != nil {
		return err
	}
	_, err = os.Stdin.Read(make([]byte, 1))
	return err
}

// TestLeasesAmongTheKilled checks that processes that compete for few keys never share a lease, and all end, although
// others are killed at any moment.
func TestLeasesAmongTheKilled(t *testing.T) { eachKeyLocker(t, testAmongTheKilled) }

func testAmongTheKilled(t *testing.T, fail vfs.Fail) {
	dir, notes := t.TempDir(), t.TempDir()
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			cmd, out := child(t, dir, "contend", notes, testrand.Rounds(150, 2000))
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("child: %v", err)
			}
		})
	}
	random := testrand.New(t)
	for range testrand.Rounds(5, 40) {
		cmd, out := child(t, dir, "contend", notes, 1<<30)
		for range 1 + random.IntN(40) {
			if _, err := out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
	}
	wait.Wait()
	s := openBy(t, dir, fail)
	leased, release, err := s.TryLease(t.Context(), contended())
	if err != nil {
		t.Fatal(err)
	}
	for i, ok := range leased {
		if !ok {
			t.Errorf("key %d is not free", i)
		}
	}
	release()
}

// TestStoppedProcessHasWhatItHas checks that a stopped process keeps its leases, and no process waits for other keys.
func TestStoppedProcessHasWhatItHas(t *testing.T) {
	eachKeyLocker(t, func(t *testing.T, fail vfs.Fail) {
		dir := t.TempDir()
		cmd, out := child(t, dir, "hold", 0)
		if _, err := out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		s := openBy(t, dir, fail)
		for range 2 {
			leased, release, err := s.TryLease(t.Context(), contended())
			if err != nil {
				t.Fatal(err)
			}
			for i, ok := range leased {
				if ok != (i > 0) {
					t.Errorf("key %d is leased: %v, and only key 0 is held", i, ok)
				}
			}
			release()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
	})
}
