// Package indexed provides random access to files with many samples, such as archives
// and files of records, after one scan of each file. The index is cached as long as the
// state of the file is unchanged.
//
// A format defines the [Scan]. A [File] has the index and reads parts of the file; a
// [Part] is the origin of an item in a file. [Files] finds the files of a directory or a
// pattern.
package indexed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

// A Scan computes the index of a file.
type Scan struct {
	Name string // the operation: with About and the program, it identifies the cached index
	// About is what the index depends on in addition to the file.
	About []any
	Func  func(ctx context.Context, path string, from io.ReaderAt, size int64) ([]byte, error)
	// Check refuses bytes that are not a valid index.
	Check func(index []byte) error
	// Packed reports whether a file that begins with head is compressed although its name
	// does not say so: see [rows.Packs]. If Packed is nil, only the name counts.
	Packed func(head []byte) bool
}

// packed reports whether a file is compressed.
func (s *Scan) packed(from io.ReaderAt) (bool, error) {
	if s.Packed == nil {
		return false, nil
	}
	head := make([]byte, rows.HeadBytes)
	n, err := from.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return s.Packed(head[:n]), nil
}

// A File is a file with its index. It may be used by many goroutines.
type File struct {
	Path  string // for a remote file, its URL without secrets
	Index []byte // must not be changed
	// Held, if not nil, holds pieces of the file, for small adjacent parts.
	Held *Held

	size    int64 // of the data read
	stat    key.FileStat
	settled bool             // a change of content would change the state
	text    *os.File         // the decompressed data; nil if the file is not compressed
	far     *blockcache.File // the remote file: size, stat and local state are unused then
}

// now returns the time for deciding whether a file was unmodified for long enough.
var now = time.Now

// Open scans a file, or finds its index in the cache l, which may be nil. A file that is
// compressed, according to its name or its beginning, is decompressed and scanned each
// time. For a file at a URL (package objectstore), l also caches the data read.
func Open(ctx context.Context, path string, l *larder.Larder, scan Scan) (*File, error) {
	if objectstore.Is(path) {
		return openFar(ctx, path, l, scan)
	}
	f, err := rows.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in := &File{Path: path, size: info.Size(), stat: key.StatOf(info)}
	in.settled = key.ShowsChanges(path, in.stat, now())
	if err := in.find(ctx, f, l, scan); err != nil {
		return nil, err
	}
	return in, in.unchanged(f)
}

// find computes the index, or finds it in the cache.
func (in *File) find(ctx context.Context, f *os.File, l *larder.Larder, scan Scan) (err error) {
	packed, err := scan.packed(f)
	if err != nil {
		return err
	}
	if packed || rows.PackingOf(in.Path) != rows.Plain {
		return in.unpack(ctx, f, scan)
	}
	through := func(ctx context.Context) ([]byte, error) { return scan.Func(ctx, in.Path, f, in.stat.Size) }
	if l != nil && in.settled && scan.Name != "" && !larder.IsCachedOnly(ctx) {
		if x, err := in.cached(ctx, l, scan, through); err == nil && scan.Check(x) == nil {
			in.Index = x
			return nil
		}
	}
	in.Index, err = through(ctx)
	return err
}

// unpack scans the decompressed data of a file.
func (in *File) unpack(ctx context.Context, packed io.Reader, scan Scan) (err error) {
	if in.text, err = rows.Unpack(ctx, in.Path, packed); err != nil {
		return err
	}
	runtime.AddCleanup(in, func(f *os.File) { _ = f.Close() }, in.text)
	if in.size, err = in.text.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	in.Index, err = scan.Func(ctx, in.Path, in.text, in.size)
	return err
}

// cached reads the index from the cache, or stores it, under the state of the file and the build of the program.
func (in *File) cached(ctx context.Context, l *larder.Larder, scan Scan, through func(context.Context) ([]byte, error)) ([]byte, error) {
	build, err := key.Build()
	if err != nil {
		return nil, err
	}
	a, err := key.NewAction(scan.Name, build, append(in.state(), scan.About)...)
	if err != nil {
		return nil, err
	}
	made, err := larder.Do(ctx, l, a, func(ctx context.Context) (*array.Array, error) { // read in place
		x, err := through(ctx)
		if err != nil {
			return nil, err
		}
		return array.New(array.Uint8, []int{len(x)}, x)
	})
	if err != nil {
		return nil, err
	}
	return made.Data, nil
}

// state distinguishes the file from others, and from its earlier content.
func (in *File) state() []any {
	if in.far != nil {
		return []any{in.far.Identity()}
	}
	return []any{in.stat.Dev, in.stat.Ino, in.stat.Size, in.stat.Mtime, in.stat.Ctime}
}

// unchanged returns an error if the file changed since the scan, because its positions
// are invalid then.
func (in *File) unchanged(f *os.File) error {
	info, err := f.Stat()
	if err == nil && key.StatOf(info) != in.stat {
		err = fmt.Errorf("%s: %w", in.Path, dataset.ErrChanged)
	}
	return err
}

// Read fills b with the bytes at an offset. A file that has changed is an error that
// wraps [dataset.ErrChanged].
func (in *File) Read(ctx context.Context, b []byte, at int64) error {
	if in.far != nil && in.text == nil {
		return rows.Changed(in.far.ReadAt(ctx, b, at))
	}
	return in.Through(ctx, func(from io.ReaderAt) error {
		if _, err := from.ReadAt(b, at); err != nil {
			return fmt.Errorf("%s: byte %d: %w", in.Path, at, err)
		}
		return nil
	})
}

// Through calls read with the file, or with its decompressed data. A file that has
// changed is an error that wraps [dataset.ErrChanged].
func (in *File) Through(ctx context.Context, read func(from io.ReaderAt) error) error {
	if in.far != nil {
		return in.throughFar(ctx, read)
	}
	f, err := rows.OpenRegular(in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	var from io.ReaderAt = f
	if in.text != nil {
		from = in.text
	}
	err = read(from)
	if cerr := in.unchanged(f); cerr != nil {
		return cerr // the change also explains a failed read
	}
	return err
}
