package block

import (
	"context"
	"io"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
)

// runs fetches blocks, each run of those that lie side by side by one request. What came before
// something failed is kept.
func (f *File) runs(ctx context.Context, blocks []int64) (all []*array.Array, err error) {
	all = make([]*array.Array, len(blocks))
	for from := 0; from < len(blocks); {
		to := from + 1
		for to < len(blocks) && blocks[to] == blocks[to-1]+1 {
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

// run fetches blocks that lie side by side, and returns those that came.
func (f *File) run(ctx context.Context, blocks []int64) (all []*array.Array, err error) {
	first, last := blocks[0], blocks[len(blocks)-1]
	r, err := f.Reader(ctx, first*Bytes, (last-first)*Bytes+f.bytes(last))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for i := first; i <= last; i++ {
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

// fetches are what was fetched last: several may go through a file side by side.
type fetches struct {
	mu   sync.Mutex
	last [32]struct{ first, end, ahead int64 } // blocks
	next int                                   // which is replaced next
}

// ahead says how many blocks are fetched beyond those that are needed: none at first, and twice
// as many each time that what is missing goes on where a fetch ended. Who needs what a fetch
// has that is under way waits for that one.
func (f *fetches) ahead(first, last int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.last {
		switch at := &f.last[i]; {
		case first < at.first || first > at.end || at.end == 0:
		case last < at.end:
			return 0
		default:
			at.ahead = min(2*at.ahead+1, mostBlocks-(last-first+1))
			at.first, at.end = first, last+1+at.ahead
			return at.ahead
		}
	}
	at := &f.last[f.next]
	at.first, at.end, at.ahead = first, last+1, 0
	f.next = (f.next + 1) % len(f.last)
	return 0
}
