package vfs

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func newDir(t *testing.T, fail Fail) *Directory {
	t.Helper()
	f := &Directory{
		Dir: t.TempDir(), Sync: true, MaxAside: 1 << 20, Log: slog.New(slog.DiscardHandler), Grown: func(int64) {}, Fail: fail,
	}
	t.Cleanup(f.Close)
	return f
}

// TestFilesAreWholeWhateverFails makes each operation of writing a file fail in turn. The file has its old or its new
// content, and nothing else is left.
func TestFilesAreWholeWhateverFails(t *testing.T) {
	before, after := bytes.Repeat([]byte("before"), 100), bytes.Repeat([]byte("after"), 200)
	for n, done := 1, false; !done; n++ {
		var ops int
		f := newDir(t, nil)
		if err := f.LayOut(); err != nil {
			t.Fatal(err)
		}
		path := f.Path(Manifests, "one")
		if err := f.Write(path, before); err != nil {
			t.Fatal(err)
		}
		var failed Op
		f.Fail = func(op Op, _ string) error {
			if ops++; ops == n {
				failed = op
				return syscall.EIO
			}
			return nil
		}
		err := f.Write(path, after)
		f.Fail, done = nil, ops < n
		if failed == OpWrite && !errors.Is(err, syscall.EIO) || done && err != nil {
			t.Errorf("operation %d (%s): %v", n, failed, err)
		}
		got, rerr := os.ReadFile(path)
		if rerr != nil || !bytes.Equal(got, after) && (err == nil || !bytes.Equal(got, before)) {
			t.Errorf("operation %d (%s): the file has %d bytes, %v after %v", n, failed, len(got), rerr, err)
		}
		left, lerr := os.ReadDir(f.Path(Temps))
		if lerr != nil || failed != OpRemove && len(left) != 1 || !strings.HasSuffix(left[len(left)-1].Name(), lockSuffix) {
			t.Errorf("operation %d (%s): left behind: %v, %v", n, failed, left, lerr)
		}
	}
}

// TestMoveClearsItsPlace checks that an obstacle at the path of a file is quarantined.
func TestMoveClearsItsPlace(t *testing.T) {
	f := newDir(t, nil)
	if err := f.LayOut(); err != nil {
		t.Fatal(err)
	}
	path := f.Path(Touches, "one")
	if err := os.MkdirAll(filepath.Join(path, "precious"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(path, []byte("whole")); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(path, 100); err != nil || string(got) != "whole" {
		t.Errorf("got %q, %v", got, err)
	}
	aside, err := filepath.Glob(f.Path(Quarantine, "one-*", "precious"))
	if err != nil || len(aside) != 1 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
}
