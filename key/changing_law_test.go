package key

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFileRewrittenAtOneLength: a file whose content is replaced by one of the
// same length, while it is read, has no digest.
func TestFileRewrittenAtOneLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "a")
	reads := 0
	rewrite := func() time.Time {
		reads++
		write(t, path, string('a'+rune(reads)))
		at := time.Unix(int64(reads), 0) // clocks of file systems may stand still meanwhile
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
