package filestate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestNamesAreSorted checks the order of strings, also where one is a prefix of another.
func TestNamesAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOf(rapid.StringMatching(`[a-c\xff]{1,12}`)).Draw(t, "names")
		want := slices.Sorted(slices.Values(names))
		if sortNames(names); !slices.Equal(names, want) {
			t.Fatalf("%q, want %q", names, want)
		}
	})
}

// TestNamesOfAllLengths checks that names are read exactly, beyond the size of one buffer,
// and that each is found by stat.
func TestNamesOfAllLengths(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 2000 {
		name := strings.Repeat(string(rune('a'+i%26)), i%249+1) + string(rune('0'+i%10)) + string(rune('A'+i/100))
		if !slices.Contains(want, name) {
			want = append(want, name)
			write(t, filepath.Join(dir, name), name)
		}
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := lister{dir: dir, fd: int(f.Fd())}
	names, err := l.names()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		var s unix.Stat_t
		if err := statAt(l.fd, n, &s); err != nil || s.Size != int64(len(n)) {
			t.Errorf("%q: %d bytes, %v", n, s.Size, err)
		}
	}
	slices.Sort(want)
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("%d names, want %d", len(names), len(want))
	}
}
