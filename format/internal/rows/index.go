// Package rows reads and writes text files with a sequence of samples, such as JSON
// lines and tables.
//
// A [Row] is the text of one sample. An [Index] has the positions of rows. A format
// builds it with one scan of each file, and later reads only the row of the requested
// sample. It takes 8 bytes of memory a row. A [Sink] writes such files with a [RowFunc]
// of the format, which encodes a row. [Files] creates items of the files that fields
// name; [Name] returns the name for an item's file.
//
// An index is valid for unchanged files: a changed file is an error that wraps
// [dataset.ErrChanged], never a wrong row. Errors in a row have file, line and column. A
// file that is compressed, according to its beginning or its name (.gz, .zst, .xz,
// .bz2), is decompressed once into an unnamed temporary file. A row may have as many
// bytes as an item ([codec.MaxItem]), so a file of another kind does not use all memory.
// A name in a field may lead out of the directory of its file only if that is allowed.
//
// Rows may be read by many goroutines once all files are added. A written file appears
// complete or not at all (package output).
package rows

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	far "github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/internal/text/compression"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

// ByteOrderMark may start a file, and is not part of its first row's value.
const ByteOrderMark = "\ufeff"

// ErrEncoding is the error of text in another encoding.
var ErrEncoding = errors.New("not UTF-8; convert the file with iconv -f LATIN1 -t UTF-8 (or -f UTF-16)")

// An Index has the positions of the rows of files. It takes 8 bytes a row, and 2 MiB for
// rows that were read ahead. Once all files are added it may be used by many goroutines.
type Index struct {
	Keeping Keeping
	listing *dataset.Listing
	files   []*file
	ends    []int // ends[k] is the number of rows in files[:k+1]
	ahead   blocks
}

type file struct {
	path   string
	stat   key.FileStat
	starts []int64   // of rows, and the end of the last one
	text   *os.File  // the decompressed content; nil if the file is not compressed
	far    *far.File // a file at a URL, which has no stat
}

// OpenRegular opens a file. A pipe or a device is an error, as a read could wait
// forever.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", path)
	}
	if err == nil {
		err = CheckRegular(path, info.Mode())
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// CheckRegular refuses anything but a regular file.
func CheckRegular(path string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return fmt.Errorf("%s is a directory, not a file", path)
	case !mode.IsRegular():
		return fmt.Errorf("%s is not a regular file; copy its content into one", path)
	}
	return nil
}

// Add scans a file once. scan receives its content and calls add with the offset of each
// row. It is not called if the index of a file at a URL is cached.
func (x *Index) Add(ctx context.Context, path string, scan func(r io.Reader, add func(start int64)) error) error {
	if objectstore.Is(path) {
		return x.addFar(ctx, path, scan)
	}
	f, err := OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := x.Listing().Dir(filepath.Dir(path)); err != nil {
		return err
	}
	in := &file{path: path, stat: key.StatOf(info)}
	size, err := in.scan(&reader{ctx, f}, info.Size(), func(r io.Reader) error {
		return scan(r, func(start int64) { in.starts = append(in.starts, start) })
	})
	if err != nil {
		return err
	}
	if err := in.unchanged(f); err != nil {
		return err
	}
	x.add(in, size)
	return nil
}

// add adds a file whose last row ends at an offset.
func (x *Index) add(in *file, end int64) {
	x.files = append(x.files, in)
	x.ends = append(x.ends, x.Len()+len(in.starts))
	in.starts = append(slices.Clip(in.starts), end)
}

// scan scans the text of a file, decompressed if necessary, and returns its length.
func (in *file) scan(r io.Reader, size int64, scan func(r io.Reader) error) (int64, error) {
	how, r, err := compression.Begun(r)
	if err != nil {
		return 0, err
	}
	if how == Plain && PackingOf(in.path) == Plain {
		return size, scan(r)
	}
	unpacked, err := compression.Reader(in.path, r)
	if err != nil {
		return 0, err
	}
	defer unpacked.Close()
	if in.text, err = spool(); err != nil {
		return 0, err
	}
	to := bufio.NewWriterSize(in.text, 1<<18)
	err = scan(io.TeeReader(unpacked, to))
	if err == nil {
		err = to.Flush()
	}
	if err != nil {
		return 0, errors.Join(err, in.text.Close())
	}
	return in.text.Seek(0, io.SeekCurrent)
}

// Listing returns the state of the first scanned file, for the files that rows name.
func (x *Index) Listing() *dataset.Listing {
	if x.listing == nil {
		x.listing = dataset.NewListing()
	}
	return x.listing
}

// reader fails after its context has ended.
type reader struct {
	ctx context.Context
	f   io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.f.Read(b)
}

// open opens the text of a file. After reading, done returns an error if the file
// changed since the scan.
func (in *file) open(ctx context.Context) (r io.ReaderAt, done func() error, err error) {
	if in.far != nil && in.text != nil {
		return in.text, func() error { return nil }, nil
	}
	if in.far != nil {
		r, done = in.far.From(ctx)
		return r, done, nil
	}
	f, err := OpenRegular(in.path)
	if err != nil {
		return nil, nil, err
	}
	done = func() error { return errors.Join(in.unchanged(f), f.Close()) }
	if in.text != nil {
		return in.text, done, nil
	}
	return f, done, nil
}

// unchanged returns an error if the file changed since the scan, because offsets are
// invalid then.
func (in *file) unchanged(f *os.File) error {
	info, err := f.Stat()
	if err == nil && key.StatOf(info) != in.stat {
		err = fmt.Errorf("%s: %w", in.path, dataset.ErrChanged)
	}
	return err
}

// Len returns the number of rows.
func (x *Index) Len() int {
	if len(x.ends) == 0 {
		return 0
	}
	return x.ends[len(x.ends)-1]
}

// Row reads row i, which must be in [0, Len()). A changed file is an error that wraps
// [dataset.ErrChanged].
func (x *Index) Row(ctx context.Context, i int) (Row, error) {
	k, _ := slices.BinarySearch(x.ends, i+1)
	in, n := x.files[k], i
	if k > 0 {
		i -= x.ends[k-1]
	}
	r := Row{Path: in.path, Number: i, start: in.starts[i]}
	err := codec.CheckItem(in.starts[i+1] - r.start)
	if err != nil {
		return r, r.Fail(1, 1, err)
	}
	if in.far != nil { // package blockcache holds nearby bytes
		r.Text, err = in.readAlone(ctx, in.starts[i], in.starts[i+1])
		return r, err
	}
	r.Text, err = x.ahead.row(ctx, in, i, n)
	return r, err
}

// A Row is the text of one sample.
type Row struct {
	Path   string // of its file
	Number int    // in its file, from 0
	Text   []byte // with the end of its line, if it has one
	start  int64
}

// Noting returns a function that calls sample and adds an item with the file and number
// of the row: {name: a.csv, row: 0}.
func Noting(item string, sample func(Row) (dataset.Sample, error)) func(Row) (dataset.Sample, error) {
	return func(r Row) (dataset.Sample, error) {
		s, err := sample(r)
		if err != nil {
			return s, err
		}
		if _, taken := s.Field(item); taken {
			return dataset.Sample{}, r.Fail(1, 1, fmt.Errorf("file: item %q exists; choose another name", item))
		}
		place := map[string]any{"name": filepath.Base(r.Path), "row": int64(r.Number)}
		return s.WithItem(item, dataset.NewItem("json", place)), nil
	}
}

// Fail adds the line and column of the file to an error, given those within the row,
// from 1. Columns count bytes.
func (r Row) Fail(line, column int, err error) error {
	return FailAt(r.Path, r.start, line, column, err)
}

// FailAt is [Row.Fail] for a row that begins at an offset.
func FailAt(path string, start int64, line, column int, err error) error {
	before, cerr := linesBefore(path, start)
	if cerr != nil {
		return fmt.Errorf("%s: byte %d: %w", path, start, err)
	}
	return At(path, before+line, column, err)
}

// At adds the line and column of a file to an error.
func At(path string, line, column int, err error) error {
	return fmt.Errorf("%s:%d:%d: %w", path, line, column, err)
}

// linesBefore counts the ends of lines before an offset.
func linesBefore(path string, offset int64) (n int, err error) {
	f, err := OpenRegular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	unpacked, err := compression.Reader(path, f)
	if err != nil {
		return 0, err
	}
	defer unpacked.Close()
	r := io.LimitReader(unpacked, offset)
	chunk := make([]byte, 1<<16)
	for {
		m, err := r.Read(chunk)
		for _, c := range chunk[:m] {
			if c == '\n' {
				n++
			}
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
