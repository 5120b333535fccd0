package rows

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	far "github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/internal/text/compression"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

// Keeping configures the cache of files at URLs. Local files are scanned each time.
type Keeping struct {
	Larder *larder.Larder // may be nil
	About  []any          // what the positions of rows depend on, in addition to the file and the program
}

// addFar is [Index.Add] for a file at a URL.
func (x *Index) addFar(ctx context.Context, path string, scan func(r io.Reader, add func(start int64)) error) error {
	f, err := objectstore.Open(ctx, path)
	if err != nil {
		return err
	}
	in := &file{path: f.Name()}
	if in.far, err = Keep(ctx, f, x.Keeping.Larder); err != nil {
		return err
	}
	end, err := in.findFar(ctx, x.Keeping, func(r io.Reader) error {
		return scan(r, func(start int64) { in.starts = append(in.starts, start) })
	})
	if err != nil {
		return Changed(err)
	}
	x.add(in, end)
	return nil
}

// Keep calls Keep of package far, and logs why a file cannot be cached.
func Keep(ctx context.Context, f *objectstore.File, l *larder.Larder) (*far.File, error) {
	if !f.Firm && l != nil {
		dataset.Warn(ctx, f.Name(), "the file is fetched whole and not cached, as a change could go unnoticed: it changed in the last two seconds, or the server's time is missing or in the future")
	}
	return far.Keep(f, l)
}

// findFar finds the rows of a file, or the cached index, and the end of the last row. A
// compressed file is decompressed each time.
func (in *file) findFar(ctx context.Context, k Keeping, scan func(r io.Reader) error) (end int64, err error) {
	if PackingOf(in.path) != Plain {
		return in.unpackFar(ctx, scan)
	}
	through := func(ctx context.Context) error {
		in.starts = nil
		s := in.far.Stream(ctx)
		defer s.Close()
		how, r, err := compression.Begun(&reader{ctx, io.NewSectionReader(s, 0, in.far.Size)})
		if err == nil && how != Plain {
			err = ErrPacked // which is not cached
		}
		if err != nil {
			return err
		}
		return scan(r)
	}
	if k.Larder == nil || !in.far.Firm {
		err = through(ctx)
	} else if err = in.cached(ctx, k, through); errors.Is(err, larder.ErrNotCached) || errors.Is(err, errStarts) {
		err = through(ctx)
	}
	if errors.Is(err, ErrPacked) {
		return in.unpackFar(ctx, scan)
	}
	return in.far.Size, err
}

// unpackFar scans the decompressed content of a file at a URL.
func (in *file) unpackFar(ctx context.Context, scan func(r io.Reader) error) (end int64, err error) {
	from, done := in.far.From(ctx)
	end, err = in.scan(&reader{ctx, io.NewSectionReader(from, 0, in.far.Size)}, in.far.Size, scan)
	return end, errors.Join(err, done())
}

var errStarts = errors.New("rows: unknown format of cached positions")

// cached reads the positions of rows from the cache, or stores them.
func (in *file) cached(ctx context.Context, k Keeping, through func(context.Context) error) error {
	build, err := key.Build()
	if err != nil {
		return err
	}
	a, err := key.NewAction("where rows begin", build, in.far.Identity(), k.About)
	if err != nil {
		return err
	}
	made, err := larder.Do(ctx, k.Larder, a, func(ctx context.Context) (*array.Array, error) {
		if err := through(ctx); err != nil {
			return nil, err
		}
		b := make([]byte, 0, 8*len(in.starts))
		for _, s := range in.starts {
			b = binary.LittleEndian.AppendUint64(b, uint64(s))
		}
		return array.New(array.Uint8, []int{len(b)}, b)
	})
	if err != nil {
		return err
	}
	in.starts, err = startsOf(made.Data, in.far.Size)
	return err
}

// startsOf decodes the positions of rows in a file of the given size.
func startsOf(b []byte, size int64) ([]int64, error) {
	if len(b)%8 != 0 {
		return nil, errStarts
	}
	starts := make([]int64, len(b)/8)
	last := int64(-1)
	for i := range starts {
		starts[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		if starts[i] <= last || starts[i] >= size {
			return nil, errStarts
		}
		last = starts[i]
	}
	return starts, nil
}

// Before returns the bytes of the first file before its first row.
func (x *Index) Before(ctx context.Context) ([]byte, error) {
	in := x.files[0]
	if err := codec.CheckItem(in.starts[0]); err != nil {
		return nil, fmt.Errorf("%s: before the first row: %w", in.path, err)
	}
	return in.readAlone(ctx, 0, in.starts[0])
}

// readAlone reads bytes of a file at a URL, or of its decompressed content.
func (in *file) readAlone(ctx context.Context, at, end int64) ([]byte, error) {
	b := make([]byte, end-at)
	if in.text != nil {
		_, err := in.text.ReadAt(b, at)
		return b, err
	}
	return b, Changed(in.far.ReadAt(ctx, b, at))
}

// Changed converts the error of a changed file at a URL to that of a local one.
func Changed(err error) error {
	if errors.Is(err, objectstore.ErrChanged) && !errors.Is(err, dataset.ErrChanged) {
		return &farChange{err}
	}
	return err
}

// farChange is an error that wraps [dataset.ErrChanged], with the same message.
type farChange struct{ error }

func (e *farChange) Unwrap() []error { return []error{e.error, dataset.ErrChanged} }
