package key

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFileRewrittenAtOneLength checks that a file has no digest if its content is replaced by one of equal length during
// the read.
func TestFileRewrittenAtOneLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "a")
	reads := 0
	rewrite := func() time.Time {
		reads++
		write(t, path, string('a'+rune(reads)))
		at := time.Unix(int64(reads), 0) // clocks of file systems may stand still in between
		if err := os.Chtimes(path, at, at); err != nil {
			t.Error(err)
		}
		return time.Now()
	}
	d, _, err := fileDigester{now: rewrite}.digest(t.Context(), path)
	if !errors.Is(err, ErrChanging) || !d.IsZero() {
		t.Errorf("got %v, %v after %d reads", d, err, reads)
	}
}
