package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/storetest"
)

// childEnv is set to a role, the address of a server and a directory when the test binary runs as another process.
const childEnv = "LARDER_REDIS_TEST_CHILD"

func TestMain(m *testing.M) {
	words := strings.Split(os.Getenv(childEnv), " ")
	if len(words) < 3 {
		os.Exit(m.Run())
	}
	play := map[string]func(s *Store, dir string) error{"hold": hold, "compute": compute, "trust": trust}[words[0]]
	s, err := Open(Options{URL: words[1], LeaseTime: 500 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = play(s, words[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child starts another process in a role.
func child(t *testing.T, role, url, dir string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role+" "+url+" "+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // open as long as this process lives
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, out
}

// hold takes two leases, each with another method, prints a line and waits to be killed.
func hold(s *Store, _ string) error {
	_, err := s.Lease(context.Background(), storetest.Key(1))
	leased, _, terr := s.TryLease(context.Background(), []key.Key{storetest.Key(2)})
	if err = errors.Join(err, terr); err != nil || !leased[0] {
		return fmt.Errorf("leased %v: %w", leased, err)
	}
	fmt.Fprintln(os.Stdout, "held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

const results = 200

// compute requests results, each computed once by the first process, and prints those it computed. If an argument says
// so, it exits immediately without releasing anything.
func compute(s *Store, dir string) error {
	l, err := larder.Open(larder.Options{Dir: dir, Shared: s, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	for i := range results {
		a, err := key.NewAction("square", key.Version("1"), i)
		if err != nil {
			return err
		}
		v, err := larder.Do(context.Background(), l, a, func(context.Context) (int, error) {
			fmt.Fprintln(os.Stdout, i)
			return i * i, nil
		})
		if err != nil || v != i*i {
			return fmt.Errorf("square of %d: %d, %w", i, v, err)
		}
	}
	return l.Close()
}

// machines are the cache directories of two machines.
func machines(t *testing.T) []string {
	dir := t.TempDir()
	return []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
}

// TestComputedOnce checks that eight processes on two machines compute each result once.
func TestComputedOnce(t *testing.T) {
	server, dirs := startServer(t), machines(t)
	made := map[string]int{}
	var all []*exec.Cmd
	var outs []io.Reader
	for i := range 8 {
		cmd, out := child(t, "compute", server.url(), dirs[i%2])
		all, outs = append(all, cmd), append(outs, out)
	}
	for i, out := range outs {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			made[lines.Text()]++
		}
		if err := all[i].Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
	if len(made) != results {
		t.Errorf("%d of %d results were made", len(made), results)
	}
	for i, n := range made {
		if n != 1 {
			t.Errorf("result %s was made %d times", i, n)
		}
	}
}

// TestKilledProcesses checks that killing processes or the server loses no result and makes none wrong.
func TestKilledProcesses(t *testing.T) {
	server, dirs := startServer(t), machines(t)
	for round := range 6 {
		cmd, out := child(t, "compute", server.url(), dirs[round%2])
		lines := bufio.NewScanner(out)
		for range 20 {
			if !lines.Scan() {
				t.Fatalf("round %d: it has ended", round)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}
	cmd, out := child(t, "compute", server.url(), dirs[0])
	if lines := bufio.NewScanner(out); !lines.Scan() {
		t.Fatal("all was made before")
	}
	server.stop() // while the child runs
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
