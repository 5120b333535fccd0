// Package blockcache provides random access to files of package objectstore, and caches what
// was read in blocks, which are records of the store. So each block is fetched once by
// all goroutines and processes that share a store, verified when it is read, and evicted
// when the store is full.
//
// One request fetches adjacent blocks. If the missing blocks continue an earlier fetch,
// as in sequential reads, it also prefetches some. If many are missing nearby, as in a
// shuffle window, it fetches the whole extent. If a block was evicted before its next
// read, it fetches only the requested bytes and does not cache them. That happens in
// a shuffle over more than the store holds.
package blockcache

import (
	"context"
	"errors"
	"fmt"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/pool"
)

const (
	// Bytes is the size of a block: one or two photographs, and a hundredth of a second of
	// a fast connection. The last block of a file is shorter.
	Bytes = 64 << 10
	// maxBlocks is the largest number of blocks per request; they are in memory during the
	// request.
	maxBlocks = 64
)

// A File is a file with cached blocks. It may be used by many goroutines.
type File struct {
	*objectstore.File
	larder *larder.Larder
	op     *key.Op
	copy   *copied // of a file without a reliable version

	misses   misses
	recent   int64 // how many misses ago is recent: see [misses.plan]
	adjacent adjacent
}

// code is a version instead of the code identity, because remote content does not depend
// on the program: a new build need not fetch it again.
var code = key.VersionOf("github.com/larder-data/larder/format/internal/blockcache", "1")

// Keep returns the file, with l as the cache of its blocks. If l is nil, or the version
// of the file is not reliable, nothing is cached. The second kind of file is copied at
// the first read and read from the copy, so that all reads see one version. A file too
// large for that is an error.
func Keep(f *objectstore.File, l *larder.Larder) (*File, error) {
	k := &File{File: f}
	if !f.Firm && f.Size > 0 {
		k.copy = newCopied()
		return k, tooLarge(f)
	}
	if l == nil || !f.Firm {
		return k, nil
	}
	var err error
	k.op, err = key.NewOp("block of a file at a place", code, key.Param{Name: "file", Value: f.Identity()}, key.Param{Name: "block bytes", Value: Bytes})
	k.larder, k.recent = l, recent(l.MaxBytes())
	return k, err
}

// Keeps reports whether reads are cached.
func (f *File) Keeps(ctx context.Context) bool { return f.larder != nil && !larder.IsCachedOnly(ctx) }

// ReadAt fills b with the bytes at an offset, which must be in the file. A file that has
// changed is an error that wraps [objectstore.ErrChanged].
func (f *File) ReadAt(ctx context.Context, b []byte, at int64) error {
	if at < 0 || int64(len(b)) > f.Size-at {
		return fmt.Errorf("%s: %d bytes at offset %d exceed the file of %d bytes", f.Name(), len(b), at, f.Size)
	}
	if f.copy != nil {
		return f.copy.readAt(ctx, f.File, b, at)
	}
	if f.larder == nil {
		return f.File.ReadAt(ctx, b, at)
	}
	goesOn := f.misses.note(at, int64(len(b)))
	wait := waiting{ctx: ctx, bytes: int64(len(b))}
	defer wait.end()
	for len(b) > 0 {
		first := at / Bytes
		n := int(min(int64(len(b)), (first+maxBlocks)*Bytes-at))
		r := read{to: b[:n], at: at, first: first, last: (at + int64(n) - 1) / Bytes, goesOn: goesOn, wait: &wait}
		switch err := f.read(ctx, r); {
		case errors.Is(err, larder.ErrNotCached) || errors.Is(err, errSize):
			return f.File.ReadAt(ctx, b, at) // a dry run caches nothing
		case err != nil:
			return err
		}
		b, at, goesOn = b[n:], at+int64(n), true
	}
	return nil
}

// A read requests bytes in the blocks first to last; at most maxBlocks are fetched
// together.
type read struct {
	to          []byte
	at          int64
	first, last int64
	goesOn      bool // continues where another read ended
	wait        *waiting
}

// A waiting releases the caller's worker slot while blocks are missing.
type waiting struct {
	ctx   context.Context
	bytes int64
	back  func() // nil until a block is missing
}

func (w *waiting) begin() {
	if w.back == nil {
		w.back = pool.Blocking(w.ctx, w.bytes)
	}
}

func (w *waiting) end() {
	if w.back != nil {
		w.back()
	}
}

// fill copies the requested bytes out of their blocks.
func (r read) fill(blocks [][]byte) {
	to, from := r.to, r.at-r.first*Bytes
	for _, b := range blocks {
		to = to[copy(to, b[from:]):]
		from = 0
	}
}

// read executes a read.
func (f *File) read(ctx context.Context, r read) error {
	missing, err := f.cached(ctx, r)
	if err != nil || missing < 0 {
		return err
	}
	r.wait.begin()
	p := f.plan(r, missing)
	if !p.exact {
		return f.fetchedOrExact(ctx, r, p)
	}
	if missing, err = f.cached(ctx, r); err != nil || missing < 0 {
		return err // fetched by another caller
	}
	return f.exact(ctx, r.to, r.at)
}

// cached reads blocks that are all cached, or returns the index of the first missing one,
// otherwise -1.
func (f *File) cached(ctx context.Context, r read) (missing int64, err error) {
	all := make([][]byte, 0, r.last-r.first+1)
	for i := r.first; i <= r.last; i++ {
		c, err := f.call(i)
		if err != nil {
			return -1, err
		}
		made, ok := c.Peek(ctx, f.larder)
		if !ok {
			return i, nil
		}
		all = append(all, made.Value.Data)
	}
	if err := f.whole(r.first, all); err != nil {
		return -1, err
	}
	r.fill(all)
	return -1, nil
}

// errSize is the error of a cached block with a wrong size.
var errSize = errors.New("block: wrong block size")

// whole checks the sizes of blocks, because other programs may write to the store.
func (f *File) whole(first int64, all [][]byte) error {
	for i, b := range all {
		if int64(len(b)) != f.bytes(first+int64(i)) {
			return errSize
		}
	}
	return nil
}

// bytes returns the size of a block.
func (f *File) bytes(i int64) int64 { return min(Bytes, f.Size-i*Bytes) }

// call describes how a block is looked up or fetched.
func (f *File) call(i int64) (larder.Call[*array.Array], error) {
	a, err := f.op.Call(i)
	if err != nil {
		return larder.Call[*array.Array]{}, err
	}
	return larder.Call[*array.Array]{Action: a, Share: true, Compute: func(ctx context.Context) (*array.Array, error) {
		made, err := f.run(ctx, []int64{i})
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}}, nil
}

// plan returns what to fetch for a missing block: the whole file, if it can only be read
// as a whole.
func (f *File) plan(r read, missing int64) plan {
	all := (f.Size + Bytes - 1) / Bytes
	if f.Whole {
		return plan{end: all}
	}
	return f.misses.plan(r, missing, all, f.recent)
}

// fetchedOrExact fetches blocks, one of which is missing. If the additional blocks fail,
// or those that another caller fetches, it tries the requested bytes alone.
func (f *File) fetchedOrExact(ctx context.Context, r read, p plan) error {
	err := f.fetched(ctx, r, p)
	if err == nil || ctx.Err() != nil || errors.Is(err, errSize) || errors.Is(err, larder.ErrNotCached) || errors.Is(err, objectstore.ErrChanged) {
		return err
	}
	f.misses.failed(p.from, p.end)
	return f.File.ReadAt(ctx, r.to, r.at)
}

// fetched fetches missing blocks together with the planned ones.
func (f *File) fetched(ctx context.Context, r read, p plan) error {
	batch := larder.Batch[*array.Array]{Compute: func(ctx context.Context, missing []int) ([]*array.Array, error) {
		numbers := make([]int64, len(missing))
		for k, i := range missing {
			numbers[k] = p.from + int64(i)
		}
		return f.runs(ctx, numbers)
	}}
	for i := p.from; i < p.end; i++ {
		c, err := f.call(i)
		if err != nil {
			return err
		}
		batch.Calls = append(batch.Calls, c)
	}
	results, errs := batch.Do(ctx, f.larder)
	all := make([][]byte, 0, r.last-r.first+1)
	for i := r.first - p.from; i <= r.last-p.from; i++ {
		if errs != nil && errs[i] != nil {
			return errs[i]
		}
		all = append(all, results[i].Value.Data)
	}
	if errs == nil {
		f.misses.fetched(p.from, p.end)
	}
	if err := f.whole(r.first, all); err != nil {
		return err
	}
	r.fill(all)
	return nil
}
