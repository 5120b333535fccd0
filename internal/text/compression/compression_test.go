package compression_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/text/compression"
)

// TestEmptyFiles checks, for every format, that a file of no bytes differs from a
// compressed empty one.
func TestEmptyFiles(t *testing.T) {
	for _, name := range []string{"a.gz", "a.zst", "a.xz", "a.bz2"} {
		r, err := compression.Reader(name, strings.NewReader(""))
		if err == nil {
			_, err = io.ReadAll(r)
			_ = r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestErrorsOfInputs checks that a read error does not count as damage.
func TestErrorsOfInputs(t *testing.T) {
	gone := errors.New("the disk is gone")
	for _, name := range []string{"a.gz", "a.zst", "a.xz", "a.bz2", "a.txt"} {
		r, err := compression.Reader(name, failing{gone})
		if err == nil {
			_, err = io.ReadAll(r)
			_ = r.Close()
		}
		if !errors.Is(err, gone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
