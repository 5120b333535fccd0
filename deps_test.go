package larder_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// write gives a file a content and an age at which its times can be trusted.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func TestRecordedInputs(t *testing.T) {
	dir := t.TempDir()
	file, other, directory := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "f")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	action := newAction(t, "reader", 1)
	calls := 0
	// compute reads one file, and another one only if the first says so.
	compute := func(ctx context.Context) (string, error) {
		calls++
		b, err := larder.ReadFile(ctx, file)
		if err != nil {
			return "missing", nil
		}
		text := string(b) + larder.Getenv(ctx, "LARDER_TEST_MODE")
		if string(b) == "more" {
			b, _ := larder.ReadFile(ctx, other)
			text += string(b)
		}
		entries, err := larder.ReadDir(ctx, directory)
		return text + strings.Repeat("+", len(entries)), err
	}
	s := memory.New(memory.Options{})
	for i, step := range []struct {
		do   func()
		want string
		runs int
	}{
		{func() {}, "missing", 1},
		{func() {}, "missing", 1},
		{func() { write(t, file, "one") }, "one", 2},
		{func() { write(t, file, "one") }, "one", 2},
		{func() { write(t, file, "two") }, "two", 3},
		{func() { write(t, file, "one") }, "one", 3}, // results are stored side by side
		{func() { write(t, other, "unread") }, "one", 3},
		{func() { write(t, file, "more") }, "moreunread", 4},
		{func() { write(t, other, "!") }, "more!", 5},
		{func() { write(t, file, "two") }, "two", 5}, // another list of inputs, also recorded
		{func() { t.Setenv("LARDER_TEST_MODE", "x") }, "twox", 6},
		{func() { write(t, filepath.Join(directory, "n"), "") }, "twox+", 7},
		{func() { t.Setenv("LARDER_TEST_MODE", "") }, "two+", 8}, // set but empty differs from unset
		{func() { _ = os.Remove(file) }, "missing", 8},
	} {
		step.do()
		// Half of the steps cache in memory.
		l, err := larder.Open(larder.Options{Store: s, MemoryBytes: int64(i%2)<<28 - 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := larder.Do(t.Context(), l, action, compute)
			if err != nil || got != step.want || calls != step.runs {
				t.Errorf("step %d: got %q after %d executions, %v; want %q after %d", i, got, calls, err, step.want, step.runs)
			}
		}
	}
}

// TestRecordedInputsOfInnerComputations checks that a computation depends on the files read by the computations it
// requests.
func TestRecordedInputsOfInnerComputations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a")
	l := newLarder(t)
	inner, outer := newAction(t, "inner", 1), newAction(t, "outer", 1)
	length := func(ctx context.Context) (int, error) {
		s, err := larder.Do(ctx, l, inner, func(ctx context.Context) (string, error) {
			b, err := larder.ReadFile(ctx, file)
			return string(b), err
		})
		return len(s), err
	}
	for _, content := range []string{"a", "bb", "a", "ccc"} {
		write(t, file, content)
		for range 2 {
			if n, err := larder.Do(t.Context(), l, outer, length); n != len(content) || err != nil {
				t.Errorf("%q: %d, %v", content, n, err)
			}
		}
	}
	if n := l.Metrics().Computed; n != 6 {
		t.Errorf("%d executions of two computations for three contents", n)
	}
}

func TestInputThatChangesWhileItIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a")
	l := newLarder(t)
	_, err := larder.Do(t.Context(), l, newAction(t, "reader", 1), func(ctx context.Context) (string, error) {
		write(t, file, "one")
		a, _ := larder.ReadFile(ctx, file)
		write(t, file, "two")
		b, _ := larder.ReadFile(ctx, file)
		return string(a) + string(b), nil
	})
	if err == nil || !strings.Contains(err.Error(), "changed while it was used") {
		t.Errorf("got %v", err)
	}
}

func TestSaltKeepsResultsApart(t *testing.T) {
	s := memory.New(memory.Options{})
	calls := 0
	run := func(salt string) {
		l, err := larder.Open(larder.Options{Store: s, Salt: salt, MemoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		got, err := larder.Do(t.Context(), l, newAction(t, "f", 1), func(context.Context) (int, error) { calls++; return 7, nil })
		if got != 7 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
		for info, err := range l.Store().Records(t.Context()) {
			if _, perr := l.Store().Provenance(t.Context(), info.Key); err != nil || perr != nil {
				t.Errorf("salt %q: %v, %v", salt, err, perr)
			}
		}
	}
	for i, want := range []int{1, 2, 3, 3, 3, 3} {
		run([]string{"", "a", "b"}[i%3])
		if calls != want {
			t.Errorf("run %d: %d executions, want %d", i, calls, want)
		}
	}
	t.Setenv("LARDER_SALT", "c")
	if run(""); calls != 4 {
		t.Errorf("by the environment: %d executions", calls)
	}
}

func newAction(t *testing.T, name string, args ...any) *key.Action {
	t.Helper()
	a, err := key.NewAction(name, key.Version("1"), args...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newLarder(t *testing.T) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestReadDirSaysWhatIsRecorded checks that replacing a file by a link changes the entry, and that unrecorded properties
// of an entry are unavailable.
func TestReadDirSaysWhatIsRecorded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write(t, path, "one")
	action := newAction(t, "kinds", 1)
	l := open(t, memory.New(memory.Options{}))
	kinds := func() string {
		v, err := larder.Do(t.Context(), l, action, func(ctx context.Context) (string, error) {
			entries, err := larder.ReadDir(ctx, dir)
			if err != nil {
				return "", err
			}
			if _, err := entries[0].Info(); err == nil || !strings.Contains(err.Error(), "larder.DependOnFile") {
				t.Errorf("Info: %v", err)
			}
			return entries[0].Type().String(), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := kinds()
	if err := errors.Join(os.Remove(path), os.Symlink("b", path)); err != nil {
		t.Fatal(err)
	}
	if after := kinds(); before == after {
		t.Errorf("a file that became a link is %q as before", after)
	}
}
