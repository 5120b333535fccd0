// Package indexed is about files that hold many samples whose places are found by going
// through the file once: archives, files of records. Where they lie is kept, as long as the
// state of the file tells that it is the same, and each is read where it lies.
//
// A format says how a file is gone through. A [File] has what came of that and reads parts of
// the file; a [Part] is the origin of an item that is one. [Files] finds the files of a folder
// or a pattern.
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
	"github.com/larder-data/larder/place"
)

// A Scan goes through a file and makes an index of it.
type Scan struct {
	Name string // of what is done: what is kept is known by it, by About and by the program
	// About is what the index depends on beside the file.
	About []any
	Func  func(ctx context.Context, path string, from io.ReaderAt, size int64) ([]byte, error)
	// Check refuses bytes that are no index.
	Check func(index []byte) error
	// Packed reports whether a file that begins with head is compressed though its name does not
	// say so: see [rows.Packs]. Without it the name counts alone.
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

// A File is one that was gone through. It may be used by many goroutines.
type File struct {
	Path  string // of one that lies elsewhere, its URL as it may be shown
	Index []byte // must not be changed
	// Held, if not nil, holds pieces of the file, for parts that are small and lie side by side.
	Held *Held

	size    int64 // of what is read
	stat    key.FileStat
	settled bool             // another content would have another state
	text    *os.File         // what it unpacks to; nil of one that is read as it is
	far     *blockcache.File // where it lies elsewhere: size, stat and the state of a file here mean nothing then
}

// now is the time by which it is known whether a file was left alone for long enough.
var now = time.Now

// Open goes through a file, or finds what l, which may be nil, has kept of that. A file that
// is compressed, as its name or its beginning says, is unpacked and gone through each time. Of a file at a URL
// (package place), l keeps what is read, too.
func Open(ctx context.Context, path string, l *larder.Larder, scan Scan) (*File, error) {
	if place.Is(path) {
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

// find makes the index, or has it found.
func (in *File) find(ctx context.Context, f *os.File, l *larder.Larder, scan Scan) (err error) {
	packed, err := scan.packed(f)
	if err != nil {
		return err
	}
	if packed || rows.PackingOf(in.Path) != rows.Plain {
		return in.unpack(ctx, f, scan)
	}
	through := func(ctx context.Context) ([]byte, error) { return scan.Func(ctx, in.Path, f, in.stat.Size) }
	if l != nil && in.settled && scan.Name != "" && !larder.IsDry(ctx) {
		if x, err := in.kept(ctx, l, scan, through); err == nil && scan.Check(x) == nil {
			in.Index = x
			return nil
		}
	}
	in.Index, err = through(ctx)
	return err
}

// unpack goes through what a file unpacks to.
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

// kept has the index kept, under the state of the file and the build of the program, which
// is how it was made.
func (in *File) kept(ctx context.Context, l *larder.Larder, scan Scan, through func(context.Context) ([]byte, error)) ([]byte, error) {
	build, err := key.Build()
	if err != nil {
		return nil, err
	}
	a, err := key.NewAction(scan.Name, build, append(in.state(), scan.About)...)
	if err != nil {
		return nil, err
	}
	made, err := larder.Do(ctx, l, a, func(ctx context.Context) (*array.Array, error) { // which is read where it lies
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

// state is what tells the file from others, and from what it was.
func (in *File) state() []any {
	if in.far != nil {
		return []any{in.far.Identity()}
	}
	return []any{in.stat.Dev, in.stat.Ino, in.stat.Size, in.stat.Mtime, in.stat.Ctime}
}

// unchanged holds a file to what it was when it was gone through: places of another content
// mean nothing.
func (in *File) unchanged(f *os.File) error {
	info, err := f.Stat()
	if err == nil && key.StatOf(info) != in.stat {
		err = fmt.Errorf("%s: %w", in.Path, dataset.ErrChanged)
	}
	return err
}

// Read fills b with what lies at a place. A file that is not what it was is an error that
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

// Through has read read from the file, or from what it unpacks to. A file that is not what it
// was is an error that wraps [dataset.ErrChanged].
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
		return cerr // also of what could not be read for that
	}
	return err
}
