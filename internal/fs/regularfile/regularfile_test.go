package regularfile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder/internal/fs/regularfile"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	want := bytes.Repeat([]byte("0123456789"), 100_000)
	if err := os.WriteFile(path, want, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := regularfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.State()
	if info, ierr := os.Stat(path); err != nil || ierr != nil || !s.Regular || s.Dir || s.Size != int64(len(want)) || s.Mtime != info.ModTime().UnixNano() {
		t.Errorf("%+v, %v", s, err)
	}
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

// TestOtherFiles checks that opening anything but a regular file never blocks, and reports
// its kind.
func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := regularfile.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.CommandContext(t.Context(), "mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, path := range []string{dir, pipe, os.DevNull} {
		f, err := regularfile.Open(path)
		if err != nil {
			continue
		}
		if s, err := f.State(); err != nil || s.Regular || s.Dir != (path == dir) {
			t.Errorf("%s: %+v, %v", path, s, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkOpenReadClose(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x")
	if err := os.WriteFile(path, []byte("small"), 0o666); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 100)
	for name, open := range map[string]func() (io.ReadCloser, error){
		"plainfile": func() (io.ReadCloser, error) { return regularfile.Open(path) },
		"os":        func() (io.ReadCloser, error) { return os.Open(path) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f, err := open()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Read(buf); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}
