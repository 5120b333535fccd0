package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Packing is how a file of rows is compressed.
type Packing string

// The ways.
const (
	Plain Packing = "none"
	Gzip  Packing = "gzip"
	Zstd  Packing = "zstd"
)

// extensions of files by how they are compressed.
var extensions = map[Packing]string{Gzip: ".gz", Zstd: ".zst"}

// PackingOf returns how a file of that name is compressed. One that ends with .tgz is a
// .tar.gz, and some write .zstd for .zst.
func PackingOf(path string) Packing {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tgz":
		return Gzip
	case ".zstd":
		return Zstd
	}
	for p, ext := range extensions {
		if strings.EqualFold(filepath.Ext(path), ext) {
			return p
		}
	}
	return Plain
}

// Unpacked returns the name of a file without the extension of what it is compressed by.
func Unpacked(path string) string {
	if PackingOf(path) == Plain {
		return path
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// maxWindow bounds the memory of an unpacker: as much as zstd takes without being told.
const maxWindow = 128 << 20

// unpack reads what was packed.
func unpack(path string, packed io.Reader) (io.ReadCloser, error) {
	switch PackingOf(path) {
	case Gzip:
		r, err := gzip.NewReader(packed)
		if err != nil {
			return nil, damaged(path, err)
		}
		return &unpacker{path, r, r.Close}, nil
	case Zstd:
		r, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, damaged(path, err)
		}
		return &unpacker{path, r, func() error { r.Close(); return nil }}, nil
	default:
		return io.NopCloser(packed), nil
	}
}

// unpacker says of which file something is wrong: the end of a file that was cut off is
// not the end of what is in it.
type unpacker struct {
	path  string
	r     io.Reader
	close func() error
}

func (u *unpacker) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(u.path, err)
	}
	return n, err
}

func (u *unpacker) Close() error { return u.close() }

func damaged(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err // the file cannot be read at all
	}
	return fmt.Errorf("%s cannot be unpacked, as it is damaged, cut off or no %s; rename it if it is not compressed", path, PackingOf(path))
}

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

// pack returns what packs what is written to it: the same bytes from the same rows. close
// must be called at the end.
func pack(how Packing, to io.Writer) (w io.Writer, done func() error, err error) {
	switch how {
	case Gzip:
		z := gzip.NewWriter(to)
		return z, z.Close, nil
	case Zstd:
		z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	default:
		return to, func() error { return nil }, nil
	}
}

// Packs reports whether a sink compresses what it writes to a path.
func (p Packing) Packs(path string) bool {
	return p == Gzip || p == Zstd || PackingOf(path) != Plain
}

// Check refuses the path of a file that says another way than p.
func (p Packing) Check(path string) error {
	_, err := p.of(path)
	return err
}

// of returns how a file is compressed, and an error if its name says otherwise.
func (p Packing) of(path string) (Packing, error) {
	named := PackingOf(path)
	if p == "" || p == named {
		return named, nil
	}
	if p == Plain {
		return "", fmt.Errorf("%s: a file of that name is taken to be compressed; give it another, or leave out compress", path)
	}
	return "", fmt.Errorf("%s: the name of a file that is compressed by %s must end with %s", path, p, extensions[p])
}

// Unpack writes what a file unpacks to into a file without a name, which goes with its last
// user, or the process.
func Unpack(ctx context.Context, path string, packed *os.File) (text *os.File, err error) {
	unpacked, err := unpack(path, &reader{ctx, packed})
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
