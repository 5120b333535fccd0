package rows

import (
	"bufio"
	"cmp"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/larder-data/larder/place"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// Packing is how a file of rows is compressed.
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

// ext returns the extension of files that are written.
func (p Packing) ext() string {
	if p == "" || p == Plain {
		return ""
	}
	return extensions[p][0]
}

// PackingOf returns how a file of that name is compressed.
func PackingOf(path string) Packing {
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
	if PackingOf(path) == Plain {
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
			all = append(all, e+p.ext())
		}
	}
	return all
}

// maxWindow bounds the memory of an unpacker: as much as zstd takes without being told, and
// twice what xz -9 needs.
const maxWindow = 128 << 20

// errWindow is wrapped by errors about files that need more memory than [maxWindow].
var errWindow = fmt.Errorf("it needs more memory to be unpacked than the %d MiB that are given; compress it with a smaller window or dictionary (zstd without --ultra and --long, xz -9 or less)", maxWindow>>20)

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
	case XZ:
		r, err := xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(newXZGuard(packed)) // or what the file asks for
		if err != nil {
			return nil, damaged(path, err)
		}
		return &unpacker{path, r, func() error { return nil }}, nil
	case Bzip2:
		return &unpacker{path, bzip2.NewReader(bufio.NewReader(packed)), func() error { return nil }}, nil
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
	_, here := errors.AsType[*fs.PathError](err)
	_, far := errors.AsType[*place.Error](err)
	if here || far {
		return err // the file cannot be read at all
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = errWindow
	}
	if errors.Is(err, errWindow) || errors.Is(err, errFilter) {
		return fmt.Errorf("%s: %w", path, err)
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
	return cmp.Or(p, Plain) != Plain || PackingOf(path) != Plain
}

// Check refuses the path of a file that says another way than p.
func (p Packing) Check(path string) error {
	_, err := p.of(path)
	return err
}

// of returns how a file is compressed, and an error if its name says otherwise.
func (p Packing) of(path string) (Packing, error) {
	named := PackingOf(path)
	if named == Bzip2 {
		return "", fmt.Errorf("%s: bzip2 is read, but not written; end the name with .zst, .xz or .gz", path)
	}
	if p == "" || p == named {
		return named, nil
	}
	if p == Plain {
		return "", fmt.Errorf("%s: a file of that name is taken to be compressed; give it another, or leave out compress", path)
	}
	return "", fmt.Errorf("%s: the name of a file that is compressed by %s must end with %s", path, p, p.ext())
}

// Unpack writes what a file unpacks to into a file without a name, which goes with its last
// user, or the process.
func Unpack(ctx context.Context, path string, packed io.Reader) (text *os.File, err error) {
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
