package larder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// TestMain also runs the processes that TestAChildThatAsksForItsParent and TestOverlappingBatchesOfProcesses start.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LARDER_TEST_BATCHES"); dir != "" {
		os.Exit(batchChild(dir, os.Getenv("LARDER_TEST_SEED")))
	}
	if dir := os.Getenv("LARDER_TEST_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	l, err := larder.Open(larder.Options{Dir: dir, Salt: "s"})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	a, err := key.NewAction("parent", key.Version("1"))
	if err == nil {
		_, err = larder.Do(context.Background(), l, a, func(context.Context) (string, error) { return "by the child", nil })
	}
	fmt.Fprintln(os.Stdout, errors.Is(err, larder.ErrCycle), err)
	return 0
}

// TestAChildThatAsksForItsParent checks a computation that waits for a process it started, while that process requests
// the same computation.
func TestAChildThatAsksForItsParent(t *testing.T) {
	dir := t.TempDir()
	l, err := larder.Open(larder.Options{Dir: dir, Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if env := larder.Environ(t.Context()); env != nil {
		t.Errorf("outside of computations it is %q", env)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a child that waits forever fails
	defer cancel()
	got, err := larder.Do(ctx, l, action(t, "parent"), func(ctx context.Context) (string, error) {
		cmd := exec.CommandContext(ctx, exe)
		cmd.Env = append(os.Environ(), "LARDER_TEST_CHILD="+dir)
		cmd.Env = append(cmd.Env, larder.Environ(ctx)...)
		out, err := cmd.Output()
		return string(out), err
	})
	if err != nil || !strings.HasPrefix(got, "true ") || !strings.Contains(got, "the process that started this one computes") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestOneDirectoryByManyPaths checks that a computation that requests itself through another path of the same directory is
// detected.
func TestOneDirectoryByManyPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	link := dir + ".link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(wd, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, dir + "/../cache/", link, rel} {
		var larders [2]*larder.Larder
		for i, dir := range []string{dir, path} {
			if larders[i], err = larder.Open(larder.Options{Dir: dir}); err != nil {
				t.Fatal(err)
			}
			defer larders[i].Close()
		}
		_, err := larder.Do(t.Context(), larders[0], action(t, "f", path), func(ctx context.Context) (int, error) {
			return larder.Do(ctx, larders[1], action(t, "f", path), func(context.Context) (int, error) { return 1, nil })
		})
		if !errors.Is(err, larder.ErrCycle) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestOneKeyUnderAnotherSalt checks that one key under two salts is two computations.
func TestOneKeyUnderAnotherSalt(t *testing.T) {
	s := memory.New(memory.Options{})
	var larders [2]*larder.Larder
	for i, salt := range []string{"a", "b"} {
		var err error
		if larders[i], err = larder.Open(larder.Options{Store: s, Salt: salt}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := larder.Do(t.Context(), larders[0], action(t, "f"), func(ctx context.Context) (int, error) {
		v, err := larder.Do(ctx, larders[1], action(t, "f"), func(context.Context) (int, error) { return 1, nil })
		return v + 1, err
	})
	if v != 2 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

// TestLongWaitsAreSaid checks that a long wait is reported once, with the process waited for. It covers an undetectable
// wait for itself and a computation of another process.
func TestLongWaitsAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{})
		l, log := logging(t, s)
		begun := time.Now()
		var ask func(ctx context.Context) (int, error)
		ask = func(ctx context.Context) (int, error) {
			return larder.Do(ctx, l, action(t, "f"), func(context.Context) (int, error) {
				answer := make(chan error)
				time.AfterFunc(time.Second, func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
					defer cancel()
					_, err := ask(ctx)
					answer <- err
				})
				return 0, <-answer
			})
		}
		var others bytes.Buffer
		time.AfterFunc(time.Minute/2, func() {
			other, err := larder.Open(larder.Options{Store: s, Logger: slog.New(slog.NewTextHandler(&others, nil))})
			if err == nil {
				_, err = larder.Do(t.Context(), other, action(t, "f"), func(context.Context) (int, error) { return 7, nil })
			}
			if err != nil {
				t.Error(err)
			}
		})
		if _, err := ask(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		synctest.Wait()
		for _, text := range []string{log.String(), others.String()} {
			if strings.Count(text, "\n") != 1 || !strings.Contains(text, "operation=f key="+action(t, "f").Key().String()) ||
				!strings.Contains(text, "by.process="+strconv.Itoa(os.Getpid())) || !strings.Contains(text, "by.since="+begun.Format("2006-01-02T15:04:05")) {
				t.Errorf("said %q", text)
			}
		}
		if !strings.Contains(log.String(), "it waits for ever") || !strings.Contains(others.String(), "another process does it") {
			t.Errorf("said %s%s", log, &others)
		}
		for i, err := range s.Records(t.Context()) {
			if err != nil || i.Key != action(t, "f").Key() && i.Key != action(t, "f").Description().Key {
				t.Errorf("left over: %v, %v", i, err)
			}
		}
	})
}

// TestAfterClose checks that the error reports a closed store and mentions no process.
func TestAfterClose(t *testing.T) {
	var log bytes.Buffer
	l, err := larder.Open(larder.Options{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = larder.Do(t.Context(), l, action(t, "f"), func(context.Context) (int, error) { return 1, nil })
	if !errors.Is(err, os.ErrClosed) || strings.Contains(err.Error(), "process") || !strings.Contains(err.Error(), "larder: f: store: the store was closed") || log.Len() > 0 {
		t.Errorf("%v: %s", err, &log)
	}
}
