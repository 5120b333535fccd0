package blockcache

import (
	"context"
	"io"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
)

// bridged is the number of blocks whose repeated fetch is faster than one more request.
const bridged = 2

// runs fetches blocks, with one request for each run of nearly adjacent ones. Blocks
// fetched before a failure are cached.
func (f *File) runs(ctx context.Context, blocks []int64) (all []*array.Array, err error) {
	all = make([]*array.Array, len(blocks))
	for from := 0; from < len(blocks); {
		to := from + 1
		for to < len(blocks) && blocks[to] <= blocks[to-1]+1+bridged {
			to++
		}
		made, err := f.run(ctx, blocks[from:to])
		copy(all[from:], made)
		if err != nil {
			failed := map[int]error{}
			for i := from + len(made); i < len(blocks); i++ {
				failed[i] = err
			}
			return all, &larder.PartialError{Errs: failed}
		}
		from = to
	}
	return all, nil
}

// run fetches blocks by one request, and returns those received.
func (f *File) run(ctx context.Context, blocks []int64) (all []*array.Array, err error) {
	first, last := blocks[0], blocks[len(blocks)-1]
	r, err := f.Reader(ctx, first*Bytes, (last-first)*Bytes+f.bytes(last))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for n, i := range blocks {
		if n > 0 {
			if _, err := io.CopyN(io.Discard, r, (i-blocks[n-1]-1)*Bytes); err != nil {
				return all, err
			}
		}
		b := make([]byte, f.bytes(i))
		if _, err := io.ReadFull(r, b); err != nil {
			return all, err
		}
		a, err := array.New(array.Uint8, []int{len(b)}, b)
		if err != nil {
			return all, err
		}
		all = append(all, a)
	}
	return all, nil
}
