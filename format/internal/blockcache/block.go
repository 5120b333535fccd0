// Package blockcache reads files of package place at any place in them, and keeps what was read: in
// blocks, which are records of the store as all results are. So each is fetched once by all
// goroutines and processes that share a store, is verified when it is read, and goes when the
// store is full and it was not used for longest.
//
// Blocks that lie side by side are fetched by one request. Where what is missing follows what
// was fetched before, as when samples are read in their order, some are fetched ahead; where
// much is missing nearby, as when they are shuffled in a window, all that lies there; and of what
// went before it was read again, as when the order is shuffled over more than the store holds,
// what is asked for alone, which is not kept.
package blockcache

import (
	"context"
	"errors"
	"fmt"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/place"
	"github.com/larder-data/larder/pool"
)

const (
	// Bytes is the size of a block: a photograph or two, and a hundredth of a second of a
	// good connection. The last one of a file is shorter.
	Bytes = 64 << 10
	// mostBlocks are fetched by one request, and lie in memory meanwhile.
	mostBlocks = 64
)

// A File is one of which what is read is kept. It may be used by many goroutines.
type File struct {
	*place.File
	larder *larder.Larder
	op     *key.Op
	copy   *copied // of a version that is not certain

	misses misses
	recent int64 // misses ago: see [misses.plan]
	beside beside
}

// code is a version, as what lies at a place does not depend on the program that asks for it: a
// new build of the program need not fetch it again.
var code = key.VersionOf("github.com/larder-data/larder/format/internal/blockcache", "1")

// Keep returns the file, of which l keeps what is read. With nil nothing is kept, nor of a
// version that is not certain: such a file is copied when it is first read, and read from the
// copy, so that all that is read is of one version. One that is too large for that is an error.
func Keep(f *place.File, l *larder.Larder) (*File, error) {
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

// Keeps reports whether what is read is kept.
func (f *File) Keeps(ctx context.Context) bool { return f.larder != nil && !larder.IsDry(ctx) }

// ReadAt fills b with what lies at a place, which must be in the file. A file that has changed
// is an error that wraps [place.ErrChanged].
func (f *File) ReadAt(ctx context.Context, b []byte, at int64) error {
	if at < 0 || int64(len(b)) > f.Size-at {
		return fmt.Errorf("%s: %d bytes from %d on reach out of a file of %d", f.Name(), len(b), at, f.Size)
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
		n := int(min(int64(len(b)), (first+mostBlocks)*Bytes-at))
		r := read{to: b[:n], at: at, first: first, last: (at + int64(n) - 1) / Bytes, goesOn: goesOn, wait: &wait}
		switch err := f.read(ctx, r); {
		case errors.Is(err, larder.ErrDry) || errors.Is(err, errSize):
			return f.File.ReadAt(ctx, b, at) // of what is only looked at nothing is kept
		case err != nil:
			return err
		}
		b, at, goesOn = b[n:], at+int64(n), true
	}
	return nil
}

// A read is of bytes that lie in the blocks first to last, of which at most mostBlocks are fetched
// at once.
type read struct {
	to          []byte
	at          int64
	first, last int64
	goesOn      bool // where another read ended
	wait        *waiting
}

// A waiting is for all that is missing of what somebody reads.
type waiting struct {
	ctx   context.Context
	bytes int64
	back  func() // nil until something is missing
}

func (w *waiting) begin() {
	if w.back == nil {
		w.back = pool.Away(w.ctx, w.bytes)
	}
}

func (w *waiting) end() {
	if w.back != nil {
		w.back()
	}
}

// fill copies what was asked for out of the blocks in which it lies.
func (r read) fill(blocks [][]byte) {
	to, from := r.to, r.at-r.first*Bytes
	for _, b := range blocks {
		to = to[copy(to, b[from:]):]
		from = 0
	}
}

// read carries out a read.
func (f *File) read(ctx context.Context, r read) error {
	missing, err := f.kept(ctx, r)
	if err != nil || missing < 0 {
		return err
	}
	r.wait.begin()
	p := f.plan(r, missing)
	if !p.exact {
		return f.fetchedOrExact(ctx, r, p)
	}
	if missing, err = f.kept(ctx, r); err != nil || missing < 0 {
		return err // which came meanwhile
	}
	return f.exact(ctx, r.to, r.at)
}

// kept reads blocks that are all kept, or returns which is the first that is missing, otherwise -1.
func (f *File) kept(ctx context.Context, r read) (missing int64, err error) {
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

// errSize is the error of a block that is kept with another size than it has.
var errSize = errors.New("block: a block of another size")

// whole holds blocks to their sizes, to which a store that others write need not keep.
func (f *File) whole(first int64, all [][]byte) error {
	for i, b := range all {
		if int64(len(b)) != f.bytes(first+int64(i)) {
			return errSize
		}
	}
	return nil
}

// bytes is how many there are in a block.
func (f *File) bytes(i int64) int64 { return min(Bytes, f.Size-i*Bytes) }

// call is how a block is found or fetched.
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

// plan says what is fetched where a block is missing: of a file that comes as a whole only, all.
func (f *File) plan(r read, missing int64) plan {
	all := (f.Size + Bytes - 1) / Bytes
	if f.Whole {
		return plan{end: all}
	}
	return f.misses.plan(r, missing, all, f.recent)
}

// fetchedOrExact has blocks fetched of which one is missing. Where something of what is fetched with
// them cannot be had, or of what somebody else fetches with one of them, what was asked for is tried
// alone.
func (f *File) fetchedOrExact(ctx context.Context, r read, p plan) error {
	err := f.fetched(ctx, r, p)
	if err == nil || ctx.Err() != nil || errors.Is(err, errSize) || errors.Is(err, larder.ErrDry) || errors.Is(err, place.ErrChanged) {
		return err
	}
	f.misses.failed(p.from, p.end)
	return f.File.ReadAt(ctx, r.to, r.at)
}

// fetched has blocks fetched of which one is missing, and what is planned beside them.
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
