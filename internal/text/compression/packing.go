// Package compression is about files that are compressed: by which of some ways, as their names or
// first bytes say, and how they are read and written. What is read is not trusted: memory is bounded, and
// what was cut off is an error.
package compression

import (
	"bufio"
	"cmp"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// Packing is how a file is compressed.
type Packing string

// The ways.
const (
	Plain Packing = "none"
	Gzip  Packing = "gzip"
	Zstd  Packing = "zstd"
	XZ    Packing = "xz"
	Bzip2 Packing = "bzip2" // is read, and not written
)

// extensions of files by how they are compressed, the usual one first. Those of archives
// stand for two: .tgz is .tar.gz.
var extensions = map[Packing][]string{
	Gzip: {".gz", ".tgz"}, Zstd: {".zst", ".zstd", ".tzst"}, XZ: {".xz", ".txz"}, Bzip2: {".bz2", ".tbz2"},
}

// Ext returns the extension of files that are written.
func (p Packing) Ext() string {
	if p == "" || p == Plain {
		return ""
	}
	return extensions[p][0]
}

// Of returns how a file of that name is compressed.
func Of(path string) Packing {
	ext := strings.ToLower(filepath.Ext(path))
	for p, exts := range extensions {
		if slices.Contains(exts, ext) {
			return p
		}
	}
	return Plain
}

// Unpacked returns the name of a file without the extension of what it is compressed by.
func Unpacked(path string) string {
	if Of(path) == Plain {
		return path
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// Packed returns the endings of files with others that are compressed in any way, those that
// are not among them.
func Packed(endings ...string) []string {
	all := slices.Clone(endings)
	for _, p := range []Packing{Gzip, Zstd, XZ, Bzip2} {
		for _, e := range endings {
			all = append(all, e+p.Ext())
		}
	}
	return all
}

// maxWindow bounds the memory of an unpacker: as much as zstd takes without being told, and
// twice what xz -9 needs.
const maxWindow = 128 << 20

// errWindow is wrapped by errors about files that need more memory than [maxWindow].
var errWindow = fmt.Errorf("it needs more memory to be unpacked than the %d MiB that are given; compress it with a smaller window or dictionary (zstd without --ultra and --long, xz -9 or less)", maxWindow>>20)

// Reader reads what was packed in a file, as its first bytes say, or else its name. It is to be
// closed. What goes wrong as packed is read is told as it is.
func Reader(path string, packed io.Reader) (io.ReadCloser, error) {
	how, packed, err := Begun(packed)
	if err != nil {
		return nil, err
	}
	if how == Plain {
		how = Of(path)
	}
	in := &input{r: packed}
	u := &unpacker{path: path, how: how, in: in, close: func() error { return nil }}
	switch how {
	case Gzip:
		var r *gzipReader
		if r, err = newGzipReader(in); err == nil {
			u.r, u.close = r, r.Close
		}
	case Zstd:
		var r *zstd.Decoder
		if r, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			u.r, u.close = r, func() error { r.Close(); return nil }
		}
	case XZ:
		u.r, err = xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(newXZGuard(in)) // or what the file asks for
	case Bzip2:
		u.r = bzip2.NewReader(bufio.NewReader(in))
	default:
		return io.NopCloser(packed), nil
	}
	if err != nil {
		return nil, u.failed(err)
	}
	return u, nil
}

// input keeps the error of what is unpacked, which unpackers do not always hand on.
type input struct {
	r    io.Reader
	read bool // something
	err  error
}

func (in *input) Read(b []byte) (int, error) {
	n, err := in.r.Read(b)
	in.read = in.read || n > 0
	if err != nil && !errors.Is(err, io.EOF) {
		in.err = err
	}
	return n, err
}

// unpacker says of which file something is wrong: the end of a file that was cut off is
// not the end of what is in it.
type unpacker struct {
	path  string
	how   Packing
	in    *input
	r     io.Reader
	close func() error
}

func (u *unpacker) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if errors.Is(err, io.EOF) && !u.in.read {
		err = io.ErrUnexpectedEOF // what is empty is not what nothing was packed to
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = u.failed(err)
	}
	return n, err
}

func (u *unpacker) Close() error { return u.close() }

func (u *unpacker) failed(err error) error {
	if u.in.err != nil {
		return u.in.err // it cannot be read at all
	}
	return damaged(u.path, u.how, err)
}

func damaged(path string, how Packing, err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = errWindow
	}
	if errors.Is(err, errWindow) || errors.Is(err, errFilter) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Errorf("%s cannot be unpacked, as it is damaged, cut off or no %s; rename it if it is not compressed", path, how)
}

// Writer returns what packs what is written to it: the same bytes from the same text. done
// must be called at the end.
func Writer(how Packing, to io.Writer) (w io.Writer, done func() error, err error) {
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
	case XZ:
		z, err := xz.NewWriter(to)
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
	return cmp.Or(p, Plain) != Plain || Of(path) != Plain
}

// Check refuses the path of a file that says another way than p.
func (p Packing) Check(path string) error {
	_, err := p.For(path)
	return err
}

// For returns how a file is compressed, and an error if its name says otherwise.
func (p Packing) For(path string) (Packing, error) {
	named := Of(path)
	if named == Bzip2 {
		return "", fmt.Errorf("%s: bzip2 is read, but not written; end the name with .zst, .xz or .gz", path)
	}
	if p == "" || p == named {
		return named, nil
	}
	if p == Plain {
		return "", fmt.Errorf("%s: a file of that name is taken to be compressed; give it another, or leave out compress", path)
	}
	return "", fmt.Errorf("%s: the name of a file that is compressed by %s must end with %s", path, p, p.Ext())
}
