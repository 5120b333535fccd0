package larder_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// logging opens a Larder with a log that can be read when no goroutine writes to it.
func logging(t *testing.T, s store.Store) (*larder.Larder, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	l, err := larder.Open(larder.Options{Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return l, &log
}

type secret struct{ N int }

// TestValuesThatCannotBeWritten checks that such a value is returned to all callers, with one warning that has the path,
// and is computed again on the next request.
func TestValuesThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, log := logging(t, memory.New(memory.Options{}))
		runs := 0
		ask := func() {
			r, err := larder.Call[map[string]any]{Action: action(t, "f"), Compute: func(context.Context) (map[string]any, error) {
				runs++
				time.Sleep(time.Second)
				return map[string]any{"list": []any{1, secret{7}}}, nil
			}}.Do(t.Context(), l)
			if err != nil || r.Uncached == nil || errors.Is(r.Uncached, larder.ErrInputChanged) || r.Value["list"].([]any)[1] != (secret{7}) {
				t.Errorf("%v, %v", r, err)
			}
		}
		var wait sync.WaitGroup
		for range 5 {
			wait.Go(ask)
		}
		wait.Wait()
		if ask(); runs != 2 {
			t.Errorf("%d executions", runs)
		}
		if n := strings.Count(log.String(), "not cached"); n != 1 || !strings.Contains(log.String(), `[\"list\"].([]interface {})[1].(larder_test.secret)`) || l.Metrics().Uncached != 2 {
			t.Errorf("%d warnings: %s", n, log)
		}
	})
}

// TestWhatComesAfterTheEndIsNotCached checks that a result returned after the last caller gave up is not stored, as it may
// be incomplete.
func TestWhatComesAfterTheEndIsNotCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, memory.New(memory.Options{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := larder.Do(ctx, l, action(t, "f"), func(ctx context.Context) (int, error) { <-ctx.Done(); return 1, nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		synctest.Wait()
		if v, err := larder.Do(t.Context(), l, action(t, "f"), func(context.Context) (int, error) { return 2, nil }); v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

// TestChangedArguments checks that a result is not stored if its arguments no longer match the key.
func TestChangedArguments(t *testing.T) {
	l, log := logging(t, memory.New(memory.Options{}))
	list := []int{3, 1, 2}
	a := action(t, "first", list)
	first := func(context.Context) (int, error) { slices.Sort(list); return list[0], nil }
	if v, err := larder.Do(t.Context(), l, a, first); v != 1 || err != nil || !strings.Contains(log.String(), "arguments have changed") {
		t.Errorf("%d, %v: %s", v, err, log)
	}
	list = []int{3, 1, 2}
	if v, err := larder.Do(t.Context(), l, action(t, "first", list), func(context.Context) (int, error) { return list[0], nil }); v != 3 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

// TestChangedParameters checks the same for the parameters of the operation.
func TestChangedParameters(t *testing.T) {
	l, log := logging(t, memory.New(memory.Options{}))
	first := func(list []int, change bool) int {
		op, err := key.NewOp("first", key.Version("1"), key.Param{Name: "list", Value: list})
		if err != nil {
			t.Fatal(err)
		}
		v, err := larder.Do(t.Context(), l, op.Action(), func(context.Context) (int, error) {
			if change {
				slices.Sort(list)
			}
			return list[0], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := first([]int{3, 1, 2}, true); v != 1 || !strings.Contains(log.String(), "a parameter has changed") {
		t.Errorf("%d: %s", v, log)
	}
	if v := first([]int{3, 1, 2}, false); v != 3 {
		t.Errorf("then %d", v)
	}
}

// TestFilesThatWereNotLeftAlone checks a file that changes during the computation and is restored before it ends.
func TestFilesThatWereNotLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	for name, meddle := range map[string]struct{ change, restore func() error }{
		"written to": {func() error { return os.WriteFile(path, []byte("other"), 0o600) }, func() error { return os.WriteFile(path, []byte("right"), 0o600) }},
		"replaced": {
			func() error {
				return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("other"), 0o600))
			},
			func() error { return os.Rename(path+".old", path) },
		},
		"mapped": {func() error { return scribble(path, "other") }, func() error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, "right")
			l, log := logging(t, memory.New(memory.Options{}))
			read := func(ctx context.Context) (string, error) {
				if err := larder.DependOnFile(ctx, path); err != nil {
					return "", err
				}
				time.Sleep(20 * time.Millisecond) // the clock of the file system has ticks
				err := meddle.change()
				b, rerr := os.ReadFile(path)
				return string(b), errors.Join(err, rerr, meddle.restore())
			}
			outer := func(ctx context.Context) (string, error) {
				v, err := larder.Do(ctx, l, action(t, "inner"), read)
				return "outer " + v, err
			}
			if v, err := larder.Do(t.Context(), l, action(t, "outer"), outer); v != "outer other" || err != nil {
				t.Errorf("%q, %v", v, err)
			}
			if n := l.Metrics().Uncached; n != 2 || !strings.Contains(log.String(), "written to or replaced") {
				t.Errorf("%d not cached: %s", n, log)
			}
			write(t, path, "right")
			right := func(context.Context) (string, error) { return "right", nil }
			for _, name := range []string{"inner", "outer"} {
				if v, err := larder.Do(t.Context(), l, action(t, name), right); v != "right" || err != nil {
					t.Errorf("%s is %q, %v", name, v, err)
				}
			}
		})
	}
}

// TestNamesThatLedElsewhere checks an unchanged file whose name led to another file, or to none, for a while.
func TestNamesThatLedElsewhere(t *testing.T) {
	move := func(pairs ...string) error {
		var errs []error
		for i := 0; i < len(pairs); i += 2 {
			errs = append(errs, os.Rename(pairs[i], pairs[i+1]))
		}
		return errors.Join(errs...)
	}
	for name, c := range map[string]struct {
		path            string
		change, restore func() error
		cached          bool
	}{
		"link": {"link",
			func() error { return move("link", "aside", "other link", "link") },
			func() error { return move("link", "other link", "aside", "link") }, false},
		"link to the directory": {"directory link/in",
			func() error { return move("directory link", "aside", "other directory link", "directory link") },
			func() error { return move("directory link", "other directory link", "aside", "directory link") }, false},
		"directory": {"directory/in",
			func() error { return move("directory", "aside", "other", "directory") },
			func() error { return move("directory", "other", "aside", "directory") }, false},
		"directory behind a link": {"link",
			func() error { return move("directory", "aside", "other", "directory") },
			func() error { return move("directory", "other", "aside", "directory") }, false},
		"missing": {"missing",
			func() error { return move("other/in", "missing") },
			func() error { return move("missing", "other/in") }, false},
		"missing directory": {"missing directory/in",
			func() error { return move("other", "missing directory") },
			func() error { return move("missing directory", "other") }, false},
		"missing behind a link": {"dangling",
			func() error { return move("other/in", "directory/missing") },
			func() error { return move("directory/missing", "other/in") }, false},
		"something next to it": {"directory link/in",
			func() error { return os.WriteFile("directory/next", nil, 0o600) },
			func() error { return os.Remove("directory/next") }, true},
		"something next to its directory": {"directory/in",
			func() error { return os.WriteFile("next", nil, 0o600) },
			func() error { return os.Remove("next") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := errors.Join(os.Mkdir("directory", 0o700), os.Mkdir("other", 0o700), os.Symlink("directory/in", "link"), os.Symlink("other/in", "other link"),
				os.Symlink("directory", "directory link"), os.Symlink("other", "other directory link"), os.Symlink("directory/missing", "dangling")); err != nil {
				t.Fatal(err)
			}
			write(t, "directory/in", "right")
			write(t, "other/in", "other")
			time.Sleep(20 * time.Millisecond) // the clock of the file system has ticks
			l, log := logging(t, memory.New(memory.Options{}))
			_, err := larder.Do(t.Context(), l, action(t, "f"), func(ctx context.Context) (string, error) {
				if err := larder.DependOnFile(ctx, c.path); err != nil && !errors.Is(err, os.ErrNotExist) {
					return "", err
				}
				err := c.change()
				b, _ := os.ReadFile(c.path) // it may be missing
				return string(b), errors.Join(err, c.restore())
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := l.Metrics().Uncached; n == 0 != c.cached || c.cached != (log.Len() == 0) {
				t.Errorf("%d not cached: %s", n, log)
			}
		})
	}
}

// scribble writes to a file through a mapping.
func scribble(path, text string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, len(text), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(b, text)
	return syscall.Munmap(b)
}

// TestTwoThatNeedEachOther checks the cycle between two goroutines, and between two processes that share a store.
func TestTwoThatNeedEachOther(t *testing.T) {
	for _, processes := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			s := memory.New(memory.Options{})
			larders := []*larder.Larder{open(t, s), open(t, s)}
			var all sync.WaitGroup
			errs := make([]error, 2)
			for i := range 2 {
				l := larders[i%processes]
				all.Go(func() {
					_, errs[i] = larder.Do(t.Context(), l, action(t, "f", i), func(context.Context) (int, error) {
						time.Sleep(time.Second) // until both have started
						return larder.Do(context.Background(), l, action(t, "f", 1-i), func(context.Context) (int, error) {
							return larder.Do(context.Background(), l, action(t, "f", i), func(context.Context) (int, error) { return 0, nil })
						})
					})
				})
			}
			all.Wait()
			if !errors.Is(errors.Join(errs...), larder.ErrCycle) {
				t.Errorf("%d processes: %v", processes, errs)
			}
			for i := range 2 {
				if v, err := larder.Do(t.Context(), larders[0], action(t, "f", i), func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
					t.Errorf("%d processes: then %d, %v", processes, v, err)
				}
			}
		})
	}
}

// TestThreeThatNeedEachOther checks a cycle of three processes.
func TestThreeThatNeedEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{})
		var all sync.WaitGroup
		errs := make([]error, 3)
		for i := range 3 {
			l := open(t, s)
			all.Go(func() {
				_, errs[i] = larder.Do(t.Context(), l, action(t, "f", i), func(ctx context.Context) (int, error) {
					time.Sleep(time.Second)
					return larder.Do(ctx, l, action(t, "f", (i+1)%3), func(ctx context.Context) (int, error) {
						return larder.Do(ctx, l, action(t, "f", (i+2)%3), func(context.Context) (int, error) { return 0, nil })
					})
				})
			})
		}
		all.Wait()
		if !errors.Is(errors.Join(errs...), larder.ErrCycle) {
			t.Errorf("%v", errs)
		}
		for i, err := range s.Records(t.Context()) {
			if i.Type == 0x77616974696e6720 || err != nil {
				t.Errorf("a note was left: %v, %v", i, err)
			}
		}
	})
}

// TestWaitingForAnotherIsNoCycle checks a computation that waits long for one in another process.
func TestWaitingForAnotherIsNoCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{})
		slow := func(context.Context) (int, error) { time.Sleep(time.Hour); return 7, nil } //nolint:unparam // as larder.Do wants it
		var all sync.WaitGroup
		for i := range 3 {
			l := open(t, s)
			all.Go(func() {
				v, err := larder.Do(t.Context(), l, action(t, "outer", i), func(ctx context.Context) (int, error) {
					return larder.Do(ctx, l, action(t, "slow"), slow)
				})
				if v != 7 || err != nil {
					t.Error(v, err)
				}
			})
		}
		all.Wait()
	})
}

// TestASaltIsANamespace checks that records and manifests of other salts are neither seen nor removed.
func TestASaltIsANamespace(t *testing.T) {
	s := memory.New(memory.Options{})
	salts := []string{"", "a", "b"}
	larders := map[string]*larder.Larder{}
	count := func(l *larder.Larder) (records, manifests int) {
		for info, err := range l.Store().Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if info.Key != l.Key(action(t, "f").Description().Key) {
				records++
			}
		}
		for m, err := range l.Store().Manifests(t.Context()) {
			if manifests++; err != nil || m.Name != "m" {
				t.Fatal(m.Name, err)
			}
		}
		return records, manifests
	}
	for _, salt := range salts {
		l, err := larder.Open(larder.Options{Store: s, Salt: salt, MemoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		larders[salt] = l
		r, err := larder.Call[int]{Action: action(t, "f"), Compute: func(context.Context) (int, error) { return len(salt), nil }}.Do(t.Context(), l)
		if err != nil || r.Value != len(salt) {
			t.Fatal(r.Value, err)
		}
		if err := l.Store().PutManifest(t.Context(), store.Manifest{Name: "m", Pinned: true, Keys: []key.Key{r.Key, {}}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, salt := range []string{"a", "", "b"} {
		for j, other := range []string{"a", "", "b"} {
			want := 1
			if j < i {
				want = 0
			}
			if r, m := count(larders[other]); r != want || m != want {
				t.Errorf("under %q: %d records and %d manifests, want %d", other, r, m, want)
			}
		}
		l := larders[salt]
		m, err := l.Store().Manifest(t.Context(), "m")
		if err != nil || len(m.Keys) != 2 || m.Keys[0] != l.Key(action(t, "f").Key()) {
			t.Errorf("under %q: %v, %v", salt, m, err)
		}
		if _, err := inventory.ClearAll(t.Context(), l.Store()); err != nil {
			t.Errorf("under %q: %v", salt, err)
		}
	}
}
