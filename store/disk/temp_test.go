//go:build unix

package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/store/disk/internal/vfs"
	"golang.org/x/sync/errgroup"
)

// tempsIn returns the names of temporary files, without the locks of writers.
func tempsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, vfs.Temps))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestNewDirectoryIsKnownForAStore checks that a directory that is just becoming a store is recognized.
func TestNewDirectoryIsKnownForAStore(t *testing.T) {
	for range 100 {
		dir := filepath.Join(t.TempDir(), "new")
		var all errgroup.Group
		for range 4 {
			all.Go(func() error {
				s, err := Open(Options{Dir: dir})
				if err != nil {
					return err
				}
				return s.Close()
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

const leftBytes = 1 << 20

// leaveTemp writes a temporary file, prints a line, and waits to be killed.
func leaveTemp(s *Store, _ []string) error {
	_, err := s.files.WriteTemp(0o666, func(w io.Writer) error {
		_, err := w.Write(make([]byte, leftBytes))
		return err
	})
	if err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("written\n"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, errors.New("was not killed"))
}

// TestTempsOfTheDeadGo checks that temporary files count as soon as they are written, and stay while their process
// lives. They are removed when another process opens the store after its death.
func TestTempsOfTheDeadGo(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	before := open(t, o)
	held := func() int64 {
		u, err := before.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return u.Bytes
	}
	empty := held()
	cmd, out := child(t, o.Dir, "leaveTemp")
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := open(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	if names := tempsIn(t, o.Dir); len(names) != 1 {
		t.Fatalf("the files of a process that lives: %v", names)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if got := held() - empty; got != leftBytes {
		t.Errorf("what a dead process left counts %d bytes, want %d", got, leftBytes)
	}
	after := open(t, o)
	if names := tempsIn(t, o.Dir); len(names) != 0 {
		t.Errorf("opening the store leaves %v", names)
	}
	if got := held(); got != empty {
		t.Errorf("%d bytes are held, %d before", got, empty)
	}
	if err := errors.Join(before.Close(), after.Close()); err != nil {
		t.Fatal(err)
	}
	if names := files(t, filepath.Join(o.Dir, vfs.Temps)); len(names) != 0 {
		t.Errorf("closing the store leaves %v", names)
	}
}
