package cleanup_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/fs/cleanup"
)

// TestMain makes the test binary act as a program that is forced to end.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REMAINS_TEST"); dir != "" {
		end(dir)
	}
	os.Exit(m.Run())
}

// end leaves files behind, clears them, and then tries operations that are no longer
// allowed.
func end(dir string) {
	file := func(name string) (string, *cleanup.Remain) {
		path := filepath.Join(dir, name)
		if os.WriteFile(path, nil, 0o600) != nil {
			os.Exit(3)
		}
		return path, cleanup.Add(func() error { return os.Remove(path) })
	}
	_, _ = file("left")
	stays, done := file("stays")
	done.Done()
	done.Done()
	half, late := file("half")
	tries := 0
	cleanup.Add(func() error {
		if tries++; tries < 3 {
			return errors.New("another process is at work on it")
		}
		return os.WriteFile(filepath.Join(dir, "third"), nil, 0o600)
	})
	go func() {
		for {
			if _, err := os.Stat(half); err != nil {
				break
			}
		}
		late.Done()
		_ = os.WriteFile(filepath.Join(dir, "published"), nil, 0o600)
	}()
	cleanup.Clear(time.Minute)
	go func() {
		cleanup.Add(func() error { return nil })
		_ = os.WriteFile(filepath.Join(dir, "begun"), nil, 0o600)
	}()
	_ = stays
	os.Exit(0)
}

// TestClear checks that remains are deleted, though it takes several attempts, and that
// finished files stay. Nothing is published or begun afterwards.
func TestClear(t *testing.T) {
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "REMAINS_TEST="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "stays third" {
		t.Errorf("there are %q, want what stays, and what the third attempt writes", got)
	}
}
