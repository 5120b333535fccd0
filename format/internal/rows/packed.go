package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/larder-data/larder/internal/text/compression"
)

// Packing is the compression of a file of rows.
type Packing = compression.Packing

// The compression formats.
const (
	Plain = compression.Plain
	Gzip  = compression.Gzip
	Zstd  = compression.Zstd
	XZ    = compression.XZ
	Bzip2 = compression.Bzip2 // read only
)

// PackingOf returns the compression of a file by its name.
func PackingOf(path string) Packing { return compression.Of(path) }

// HeadBytes is the length of the beginning of a file that [Packs] needs.
const HeadBytes = compression.HeadBytes

// Packs reports whether a file that begins with head is compressed.
func Packs(head []byte) bool { return compression.ByHead(head) != Plain }

// ErrPacked is wrapped by the error of a file at a URL that is compressed although its
// name does not say so. The caller then decompresses it.
var ErrPacked = errors.New("the file is compressed")

// Unpacked returns the name of a file without the extension of its compression.
func Unpacked(path string) string { return compression.Unpacked(path) }

// Packed returns endings, and each of them with the extension of each compression.
func Packed(endings ...string) []string { return compression.Packed(endings...) }

// spool creates an unnamed file for decompressed content, which allows random access to
// rows. It is removed with its last user, or the process.
func spool() (*os.File, error) {
	f, err := os.CreateTemp("", "larder-rows-*")
	if err != nil {
		return nil, fmt.Errorf("unpack: %w; TMPDIR sets the directory of temporary files", err)
	}
	_ = os.Remove(f.Name()) // on systems that cannot remove open files, it stays
	return f, nil
}

// Unpack decompresses a file into an unnamed file, which is removed with its last user,
// or the process.
func Unpack(ctx context.Context, path string, packed io.Reader) (text *os.File, err error) {
	unpacked, err := compression.Reader(path, &reader{ctx, packed})
	if err != nil {
		return nil, err
	}
	defer unpacked.Close()
	if text, err = spool(); err != nil {
		return nil, err
	}
	if _, err = io.Copy(text, unpacked); err != nil {
		return nil, errors.Join(err, text.Close())
	}
	return text, nil
}
