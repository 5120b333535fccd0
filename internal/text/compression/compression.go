// Package compression reads and writes compressed files, whose format it finds by their
// names or first bytes. It does not trust what it reads: memory is bounded, and
// truncated input is an error.
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

// Packing is a compression format.
type Packing string

// Compression formats.
const (
	Plain Packing = "none"
	Gzip  Packing = "gzip"
	Zstd  Packing = "zstd"
	XZ    Packing = "xz"
	Bzip2 Packing = "bzip2" // for reading only
)

// extensions of files by their format, the usual one first. Those of archives stand for
// two: .tgz is .tar.gz.
var extensions = map[Packing][]string{
	Gzip: {".gz", ".tgz"}, Zstd: {".zst", ".zstd", ".tzst"}, XZ: {".xz", ".txz"}, Bzip2: {".bz2", ".tbz2"},
}

// Ext returns the extension of written files.
func (p Packing) Ext() string {
	if p == "" || p == Plain {
		return ""
	}
	return extensions[p][0]
}

// Of returns the format for the name of a file.
func Of(path string) Packing {
	ext := strings.ToLower(filepath.Ext(path))
	for p, exts := range extensions {
		if slices.Contains(exts, ext) {
			return p
		}
	}
	return Plain
}

// Unpacked returns the name of a file without its compression extension.
func Unpacked(path string) string {
	if Of(path) == Plain {
		return path
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// Packed returns endings, and each of them with each compression extension.
func Packed(endings ...string) []string {
	all := slices.Clone(endings)
	for _, p := range []Packing{Gzip, Zstd, XZ, Bzip2} {
		for _, e := range endings {
			all = append(all, e+p.Ext())
		}
	}
	return all
}

// maxWindow bounds the memory of a decompressor: the default of zstd, and twice the
// need of xz -9.
const maxWindow = 128 << 20

// errWindow is wrapped by errors about files that need more memory than [maxWindow].
var errWindow = fmt.Errorf("it needs more memory to be unpacked than the %d MiB that are given; compress it with a smaller window or dictionary (zstd without --ultra and --long, xz -9 or less)", maxWindow>>20)

// Reader returns a decompressing reader. The first bytes determine the format, or else
// the name. The caller closes the reader. It returns errors of packed unchanged.
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
		u.r, err = xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(newXZGuard(in)) // or as much as the file requests
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

// input stores the error of the compressed input, which decompressors do not always
// return.
type input struct {
	r    io.Reader
	read bool // any bytes were read
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

// unpacker adds the path to errors. It reports a truncated file as such, and not as the
// end of its content.
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
		err = io.ErrUnexpectedEOF // an empty file is not a compressed empty file
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

// Writer returns a compressing writer with deterministic output. The caller must call
// done at the end.
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

// Packs reports whether a sink compresses the file at a path.
func (p Packing) Packs(path string) bool {
	return cmp.Or(p, Plain) != Plain || Of(path) != Plain
}

// Check returns an error if the name of a file indicates another format than p.
func (p Packing) Check(path string) error {
	_, err := p.For(path)
	return err
}

// For returns the format of a file, and an error if its name indicates another one.
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
