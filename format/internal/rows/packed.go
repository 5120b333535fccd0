package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/larder-data/larder/internal/text/compression"
)

// Packing is how a file of rows is compressed.
type Packing = compression.Packing

// The ways.
const (
	Plain = compression.Plain
	Gzip  = compression.Gzip
	Zstd  = compression.Zstd
	XZ    = compression.XZ
	Bzip2 = compression.Bzip2 // is read, and not written
)

// PackingOf returns how a file of that name is compressed.
func PackingOf(path string) Packing { return compression.Of(path) }

// HeadBytes is how much of a file tells [Packs] whether it is compressed.
const HeadBytes = compression.HeadBytes

// Packs reports whether a file is compressed that begins with head.
func Packs(head []byte) bool { return compression.ByHead(head) != Plain }

// ErrPacked is wrapped by the error of a file at a URL that is compressed though its name does not
// say so. It is unpacked then.
var ErrPacked = errors.New("it is compressed")

// Unpacked returns the name of a file without the extension of what it is compressed by.
func Unpacked(path string) string { return compression.Unpacked(path) }

// Packed returns the endings of files with others that are compressed in any way, those that
// are not among them.
func Packed(endings ...string) []string { return compression.Packed(endings...) }

// spool is a file without a name, which takes what a packed one unpacks to, as no row can
// be found in that without all before it. It goes with its last user, or the process.
func spool() (*os.File, error) {
	f, err := os.CreateTemp("", "larder-rows-*")
	if err != nil {
		return nil, fmt.Errorf("unpack: %w; temporary files are in the folder that TMPDIR names", err)
	}
	_ = os.Remove(f.Name()) // where open files cannot be removed it stays until the folder is cleared
	return f, nil
}

// Unpack writes what a file unpacks to into a file without a name, which goes with its last
// user, or the process.
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
