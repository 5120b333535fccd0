package cli_test

import (
	"errors"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDevicesAreNotReplaced checks that a sink refuses an output that is neither a file nor
// a directory, by any name, before anything runs.
func TestDevicesAreNotReplaced(t *testing.T) {
	b := newBench(t)
	t.Chdir(b.dir) // names of sockets are short
	socket, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }() // only its name counts
	if err := errors.Join(unix.Mkfifo("pipe", 0o666), os.Symlink("pipe", "link")); err != nil {
		t.Fatal(err)
	}
	names := []string{"pipe", "link", "socket"}
	if err := unix.Mknod("device", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		names = append(names, "device")
	} else {
		t.Logf("a device is not tried: %v", err)
	}
	modes := func() (all []os.FileMode) {
		for _, name := range names {
			info, err := os.Lstat(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, info.Mode())
		}
		return all
	}
	before := modes()
	for _, format := range []string{"jsonl", "csv", "underfolder"} {
		for i, name := range names {
			r := b.larder("op", "clone", "-i", "data", "-o", format+":"+name+",overwrite=replace")
			if r.status != 2 {
				t.Errorf("%s to %s: status %d, want 2: %s", format, name, r.status, r.stderr)
			}
			mustContain(t, format, r.stderr, "refusing to write to", name, "only files and directories are written")
			if after := modes(); after[i] != before[i] {
				t.Fatalf("%s: %s is %v, was %v", format, name, after[i], before[i])
			}
		}
	}
}
