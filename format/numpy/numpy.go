// Package numpy reads NumPy arrays as datasets: each row of an array, along its first
// dimension, is a sample. Rows of a .npy file are read in place, in any order, however
// large the file is.
package numpy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterSource("numpy", "Reads NumPy arrays (.npy, .npz): each row is a sample, with an item for each array, named by its file or its name in .npz.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path))
		})
}

// Source configures the arrays to read.
type Source struct {
	Path component.Path `param:"path,required" doc:"a file .npy or .npz, or a directory of files .npy, with equal numbers of rows"`
}

// Inputs returns the files to read.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	return []pathguard.Input{{Path: env.Path(s.Path), Flat: true}}
}

// Listed reports that names, sizes and times identify the input.
func (s Source) Listed() bool { return true }

// Picks reports whether a file of a directory is read.
func (s Source) Picks(file string) bool {
	return file == "" || !strings.Contains(file, "/") && isNPY(file)
}

func isNPY(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".npy") && !strings.HasPrefix(name, ".")
}

// Open opens the arrays. It reads the headers of .npy files, and decompresses .npz files
// into memory, within the limits of package codec.
func (s Source) Open(ctx context.Context, path string) (component.Samples, error) {
	columns, err := columnsAt(path)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(columns, func(a, b *column) int { return strings.Compare(a.name, b.name) })
	for k, c := range columns {
		if len(c.shape) == 0 {
			return nil, fmt.Errorf("%s: the array is a scalar; give at least one dimension", c.path)
		}
		size, err := array.Bytes(c.dtype, c.shape[1:])
		c.size = int64(size)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", c.path, err)
		case c.shape[0] != columns[0].shape[0]:
			return nil, fmt.Errorf("%s has %d rows but %s has %d; give arrays of equal length", columns[0].path, columns[0].shape[0], c.path, c.shape[0])
		case k > 0 && c.name == columns[k-1].name:
			return nil, fmt.Errorf("%s and %s both map to item %s; rename one", columns[k-1].path, c.path, c.name)
		case c.size > maxUnpacked():
			return nil, fmt.Errorf("%s: a row of %d bytes exceeds %d; raise --max-unpacked", c.path, c.size, maxUnpacked())
		}
	}
	return dataset.Func(columns[0].shape[0], func(_ context.Context, i int) (dataset.Sample, error) {
		fields, rows := make([]dataset.Field, len(columns)), make([]row, len(columns))
		for k, c := range columns {
			rows[k] = row{c, i}
			fields[k] = dataset.Field{Key: c.name, Item: dataset.ItemFrom(&rows[k])}
		}
		return dataset.NewSample(fields...), nil
	}), nil
}

// maxUnpacked returns the largest size in bytes of a row, or of a .npz file.
func maxUnpacked() int64 {
	if n := codec.MaxUnpacked.Load(); n > 0 {
		return n
	}
	return 4 << 30
}

// columnsAt returns the arrays at a path.
func columnsAt(path string) ([]*column, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file or directory", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		return directory(path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case strings.EqualFold(filepath.Ext(path), ".npz"):
		return archive(path, info.Size())
	}
	c, err := openColumn(path)
	return []*column{c}, err
}

// directory opens the .npy files of a directory.
func directory(path string) (columns []*column, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() && isNPY(e.Name()) {
			c, err := openColumn(filepath.Join(path, e.Name()))
			if err != nil {
				return nil, err
			}
			columns = append(columns, c)
		}
	}
	if columns == nil {
		return nil, fmt.Errorf("%s has no file *.npy", path)
	}
	return columns, nil
}

// archive decompresses a .npz file.
func archive(path string, size int64) (columns []*column, err error) {
	if size > maxUnpacked() {
		return nil, fmt.Errorf("%s has %d bytes, above --max-unpacked (%d); save the arrays as .npy", path, size, maxUnpacked())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, _ := codec.ByExtension("npz") // always exists
	v, err := c.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for name, a := range v.(map[string]*array.Array) {
		columns = append(columns, &column{path: path + ": " + name, name: name, dtype: a.DType, shape: a.Shape, data: a.Data})
	}
	if columns == nil {
		return nil, fmt.Errorf("%s has no arrays; save at least one", path)
	}
	return columns, nil
}

// A column is an array whose rows are items.
type column struct {
	path, name string
	dtype      array.DType
	shape      []int
	size       int64  // bytes of a row
	data       []byte // of an array in memory

	file    *os.File // of other arrays
	view    *view    // of the file, or nil
	stat    key.FileStat
	checked atomic.Int64 // time of the last check of the file, since the program began
	offset  int64
	swap    bool // big-endian
}

// openColumn opens a .npy file. It is closed when the column is no longer reachable.
func openColumn(path string) (*column, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path) // a pipe would block
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c, err := readColumn(path, f)
	if err != nil || c.file == nil {
		_ = f.Close()
		return c, err
	}
	if c.view = viewOf(f, c.stat.Size); c.view != nil {
		runtime.AddCleanup(c, (*view).close, c.view)
	}
	runtime.AddCleanup(c, func(f *os.File) { _ = f.Close() }, f)
	return c, nil
}

func readColumn(path string, f *os.File) (*column, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	first := make([]byte, min(info.Size(), codec.NPYHeadBytes))
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(len(first))), first); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h, err := codec.ReadNPYHead(first)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &column{path: path, name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), dtype: h.DType, shape: h.Shape, file: f, stat: key.StatOf(info), offset: h.Offset, swap: h.BigEndian}
	bytes, err := array.Bytes(h.DType, h.Shape)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case info.Size()-h.Offset != int64(bytes):
		return nil, fmt.Errorf("%s: %v of shape %v needs %d bytes, but there are %d", path, h.DType, h.Shape, bytes, info.Size()-h.Offset)
	case h.Fortran && len(h.Shape) > 1:
		return c, c.rearrange(info.Size())
	}
	return c, nil
}

// rearrange reads an array whose rows are not contiguous in the file, because its first
// index varies fastest (Fortran order).
func (c *column) rearrange(size int64) error {
	if size > maxUnpacked() {
		return fmt.Errorf("%s: a Fortran-order array of %d bytes exceeds --max-unpacked (%d); save numpy.ascontiguousarray of it", c.path, size, maxUnpacked())
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(c.file, 0, size), b); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	if err := c.check(0); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	npy, _ := codec.ByExtension("npy") // always exists
	v, err := npy.Decode(b)
	if err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	c.data, c.file = v.(*array.Array).Data, nil
	return nil
}

// read reads bytes at an offset of the file.
func (c *column) read(dst []byte, at int64, now time.Duration) error {
	if c.view != nil {
		done, err := c.view.read(dst, at, now)
		runtime.KeepAlive(c) // or its view would be closed during the read
		if done {
			return err
		}
	}
	_, err := c.file.ReadAt(dst, at)
	return err
}

// checkEvery is the interval between checks whether a file is unchanged.
const checkEvery = 100 * time.Microsecond

// check returns an error if the file changed, unless it was checked just before.
func (c *column) check(now time.Duration) error {
	if last := c.checked.Load(); last != 0 && now-time.Duration(last) < checkEvery {
		return nil
	}
	info, err := c.file.Stat()
	if err != nil {
		return err
	}
	if key.StatOf(info) != c.stat {
		return dataset.ErrChanged
	}
	c.checked.Store(int64(now))
	return nil
}

var began = time.Now()
