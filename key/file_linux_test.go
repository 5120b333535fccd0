package key

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSpecialFiles checks that irregular files are refused without blocking.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]string{dir: "is a directory", pipe: "not a regular file", socket: "not a regular file", "/dev/zero": "not a regular file"} {
		if _, _, err := DigestFile(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", path, err)
		}
	}
	// The file may become a pipe between stat and open.
	if _, _, err := (fileDigester{now: after(0)}).read(t.Context(), pipe); err == nil {
		t.Error("a pipe is read")
	}
}

// TestIdentity checks that a replaced file is distinguished from the original.
func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "same")
	write(t, b, "same")
	_, x, err := DigestFile(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, y, err := DigestFile(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if x == y || x.Ino == y.Ino || x.Ctime == 0 {
		t.Errorf("two files share a state: %+v, %+v", x, y)
	}
}

// TestFilesInMemoryAreReadEachTime checks that files in tmpfs are always read, because their times do not change on
// writes through a mapping.
func TestFilesInMemoryAreReadEachTime(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "larder") //nolint:usetesting // it is about that file system
	if err != nil {
		t.Skip("no file system in memory:", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a")
	write(t, path, "one")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if stampsMappings(path, StatOf(info)) {
		t.Skip("/dev/shm is on a disk")
	}
	memo := &counted{Memo: NewMemo(10)}
	for range 2 {
		if _, _, err := (fileDigester{memo, after(time.Minute), stampsMappings}).digest(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if memo.loads != 0 || memo.stores != 0 {
		t.Errorf("%d loads, %d stores", memo.loads, memo.stores)
	}
}
