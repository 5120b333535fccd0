package flow_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInputsWrittenThroughMappingsAreSeen checks writes through a mapping, of which only
// the first changes the time. Recently changed inputs are therefore read.
func TestInputsWrittenThroughMappingsAreSeen(t *testing.T) {
	l := newLines(t, cachedHashes, 10)
	f, err := os.OpenFile(l.path("in.jsonl"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, len(l.read("in.jsonl")), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped) //nolint:errcheck // the test is over
	copy(mapped[len(`{"text": "`):], "LINE")
	l.run()
	before, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if r := l.run(); !node(t, r, "out").Unchanged {
		t.Fatal("the second run writes the output again")
	}
	copy(mapped[len(`{"text": "`):], "Line")
	after, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if !after.ModTime().Equal(before.ModTime()) {
		t.Skip("this file system notes each write through a mapping")
	}
	if r := l.run(); node(t, r, "out").Unchanged {
		t.Error("the write was not seen")
	}
}
