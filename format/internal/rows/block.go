package rows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// blocks are rows that were read ahead, so that sequential reads do not read the file
// once per row.
type blocks struct {
	mu   sync.Mutex
	last int // the row read last, of all files
	list [blocksHeld]block
	next int // index in list of the block to replace next
}

// block is the bytes of some rows of a file.
type block struct {
	file        *file
	first, last int // range of rows of the file, without last
	text        []byte
}

const (
	blocksHeld = 8
	blockBytes = 1 << 18
	// nearRows is the largest distance from the last row at which following rows are read
	// ahead: several workers read concurrently.
	nearRows = 1 << 12
)

// row returns the bytes of row i of a file, the n-th of all.
func (b *blocks) row(ctx context.Context, in *file, i, n int) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	near := max(n-b.last, b.last-n) <= nearRows
	b.last = n
	for k := range b.list {
		if at := &b.list[k]; at.file == in && i >= at.first && i < at.last {
			from := in.starts[at.first]
			return slices.Clone(at.text[in.starts[i]-from : in.starts[i+1]-from]), nil
		}
	}
	last := i + 1
	for near && last < len(in.starts)-1 && in.starts[last+1]-in.starts[i] <= blockBytes {
		last++
	}
	text, err := in.read(ctx, i, last)
	if err != nil || last == i+1 {
		return text, err
	}
	b.list[b.next] = block{in, i, last, text}
	b.next = (b.next + 1) % blocksHeld
	return slices.Clone(text[:in.starts[i+1]-in.starts[i]]), nil
}

// read reads the rows from first up to last, if the file is unchanged.
func (in *file) read(ctx context.Context, first, last int) ([]byte, error) {
	from, done, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	text := make([]byte, in.starts[last]-in.starts[first])
	if _, err := from.ReadAt(text, in.starts[first]); err != nil {
		return nil, errors.Join(done(), fmt.Errorf("read %s: %w", in.path, err))
	}
	return text, done()
}
