package dataset

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
)

// TestFilesAreKnownByStateOrContent checks that a file is identified by its state only if a
// change would show in it, which a recent change may not. Names follow the source.
func TestFilesAreKnownByStateOrContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := NewListing()
	on := []string{"a", "b"}
	digest := func(later time.Duration) key.Digest {
		t.Helper()
		l.now = func() time.Time { return time.Now().Add(later) }
		all, err := l.Chunks(t.Context(), 2, nil, func(i int) ([]string, []string) { return on, []string{path}[:i] })
		if err != nil || len(all) != 2 || all[0].Samples != 1 || all[0].Digest == all[1].Digest {
			t.Fatal(all, err)
		}
		return all[1].Digest
	}
	touch := func() {
		at := time.Now().Add(-time.Duration(len(on)) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	soon, late := digest(0), digest(time.Hour)
	if soon == late {
		t.Error("the identity of a file after an hour is the one of a new file")
	}
	touch()
	if digest(0) != soon {
		t.Error("a file that was made just now is not identified by its content")
	}
	if digest(time.Hour) == late {
		t.Error("a file that was touched has the state that it had")
	}
	write("two")
	if digest(0) == soon {
		t.Error("another content is not seen")
	}
	two := digest(0)
	for _, on = range [][]string{{"a", "c"}, {"ab"}, {"a"}, {"a", "b", ""}, nil} {
		if digest(0) == two {
			t.Errorf("%q makes no difference", on)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Chunks(t.Context(), 1, nil, func(int) ([]string, []string) { return nil, []string{path} }); err == nil {
		t.Error("no file is known")
	}
}
