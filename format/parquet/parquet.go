// Package parquet reads and writes Parquet files: each row is a sample, and each column
// an item.
//
// Opening a file reads its footer. The first request for a value reads the page headers
// of its column in its row group. The page with the value is decoded and held for
// adjacent values ([cache]). So unused columns are not read, and rows may be read in any
// order.
//
// The format is that of github.com/apache/parquet-format, version 2. The content of a
// file is not trusted: sizes are checked against the actual data before memory is
// allocated.
package parquet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

func init() {
	component.RegisterSource("parquet", "Reads Parquet files: each row is a sample, and each column an item. Only requested columns are read.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
}

// Source configures the files to read.
type Source struct {
	Path    component.Path  `param:"path,required" doc:"a file, a directory of files (*.parquet, *.pq), which are read in order of their names, or a pattern: train-{00000..00099}-of-00100.parquet; also URLs: https://, s3://"`
	Formats columns.Formats `param:"formats" doc:"item to extension: format of the bytes or the text of a column, such as {image: jpg, caption: txt}; other bytes stay bytes"`
}

// Check refuses patterns and extensions that cannot be read.
func (s Source) Check() error { return cmp.Or(s.Formats.Check(), indexed.Path(s.Path).Check()) }

// Delegate returns the files to read.
func (s Source) Delegate() any { return indexed.Path(s.Path) }

// Open reads the footers of the files, of several concurrently as env allows.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	paths, err := indexed.Files(ctx, path, ".parquet", ".pq")
	if err != nil {
		return nil, err
	}
	c := newCache()
	return indexed.Join(ctx, env, len(paths), func(ctx context.Context, i int) (*file, error) {
		f, err := open(ctx, paths[i], env.Larder, s.Formats)
		if err != nil {
			return nil, err
		}
		f.number, f.cache = i, c
		return f, nil
	})
}

// A file is a file with its footer.
type file struct {
	*indexed.File
	footer  *footer
	leaves  []*node
	ends    []int // rows up to the end of each group
	formats columns.Formats
	number  int // among the files of the source
	cache   *cache
}

func open(ctx context.Context, path string, l *larder.Larder, formats columns.Formats) (*file, error) {
	f := &file{formats: formats}
	scan := indexed.Scan{
		Func: func(_ context.Context, path string, from io.ReaderAt, size int64) ([]byte, error) {
			b, err := readFooter(from, size)
			if err == nil {
				err = f.parse(b, size)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return binary.LittleEndian.AppendUint64(bytes.Clone(b), uint64(size)), err
		},
		Check: f.known,
	}
	if objectstore.Is(path) { // reading a local file is as fast as reading the cache
		scan.Name = "footer of a Parquet file"
	}
	var err error
	if f.File, err = indexed.Open(ctx, path, l, scan); err != nil {
		return nil, err
	}
	f.leaves = leavesOf(f.footer.schema, nil)
	rows := 0
	for _, g := range f.footer.groups {
		rows += int(g.rows)
		f.ends = append(f.ends, rows)
	}
	return f, nil
}

// parse parses the footer of a file of the given size.
func (f *file) parse(b []byte, size int64) (err error) {
	if f.footer, err = parseFooter(bytes.Clone(b), size-8-int64(len(b))); err != nil {
		return err
	}
	return f.distinct()
}

// known parses a cached footer, which is followed by the size of its file.
func (f *file) known(stored []byte) error {
	at := len(stored) - 8
	if at < 0 {
		return errors.New("unknown format of a cached footer")
	}
	return f.parse(stored[:at], int64(binary.LittleEndian.Uint64(stored[at:])))
}

// distinct refuses columns that would be one item.
func (f *file) distinct() error {
	names := map[string]bool{}
	for _, n := range f.footer.schema.children {
		if names[n.name] {
			return fmt.Errorf("two columns are named %s; rename one", display.Name(n.name))
		}
		names[n.name] = true
	}
	return nil
}

// Len returns the number of rows.
func (f *file) Len() int {
	if len(f.ends) == 0 {
		return 0
	}
	return f.ends[len(f.ends)-1]
}

// Sample returns the sample of a row, without reading it.
func (f *file) Sample(_ context.Context, i int) (dataset.Sample, error) {
	g, _ := slices.BinarySearch(f.ends, i+1)
	row := i
	if g > 0 {
		row -= f.ends[g-1]
	}
	fields := make([]dataset.Field, 0, len(f.footer.schema.children))
	for _, n := range f.footer.schema.children {
		name := fmt.Sprintf("column %s of row %d in %s", display.Name(n.name), i, display.Name(f.Path))
		fields = append(fields, dataset.Field{Key: n.name, Item: dataset.DeferredBy(name, func() (key.Ref, bool, error) {
			return f.RefMade("value in a Parquet file", n.name, i, f.formats[n.name])
		}, func(ctx context.Context) (*dataset.Item, error) {
			it, err := f.item(ctx, n, g, row)
			if err != nil && !errors.Is(err, dataset.ErrChanged) && ctx.Err() == nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return it, err
		})})
	}
	return dataset.NewSample(fields...), nil
}

// item reads the value of a column.
func (f *file) item(ctx context.Context, n *node, g, row int) (*dataset.Item, error) {
	cs := make([]cursor, n.leaves)
	for k := range cs {
		b, err := f.block(ctx, g, n.leaf+k, row)
		if err != nil {
			return nil, err
		}
		cs[k] = cursorAt(b, row-b.first)
	}
	if a, err := arrayOf(n, cs); a != nil || err != nil {
		return dataset.NewItem("npy", a), err
	}
	v, err := whole(n, cs)
	if err != nil {
		return nil, err
	}
	return f.formats.Item(n.name, v, n.meaning == aDocument)
}

// block returns the values of a column around a row.
func (f *file) block(ctx context.Context, g, leaf, row int) (*block, error) {
	s, err := f.cache.strip(ctx, place{f.number, g, leaf, 0}, func(ctx context.Context) (*strip, error) { return f.strip(ctx, g, leaf) })
	if err != nil {
		return nil, err
	}
	_, first, _ := s.pagesOf(row, int(f.footer.groups[g].rows))
	return f.cache.block(ctx, place{f.number, g, leaf, first}, func(ctx context.Context) (*block, error) { return f.read(ctx, s, g, leaf, row) })
}
