package parquet

import (
	"context"
	"sync"

	"github.com/larder-data/larder/dataset"
)

// A cache holds the most recent blocks, so that sequential reads decode a page once. It
// holds as many as fit, and those being read.
type cache struct {
	mu     sync.Mutex
	blocks map[place]*held
	strips map[place]*dataset.Once[*strip]
	clock  uint64
	bytes  int
}

// cacheBytes bounds the cache of a source, in addition to one block for each column that
// is read.
const cacheBytes = 64 << 20

// A place identifies a block: its file, row group and column, and its first row.
type place struct {
	file, group, leaf, row int
}

// ofDictionary replaces the row for the dictionary of a chunk.
const ofDictionary = -1

// held is a block, read or being read.
type held struct {
	dataset.Once[*block]
	used  uint64
	bytes int // 0 until it is known
}

func newCache() *cache {
	return &cache{blocks: map[place]*held{}, strips: map[place]*dataset.Once[*strip]{}}
}

// strip returns the pages of a chunk.
func (c *cache) strip(ctx context.Context, at place, read func(context.Context) (*strip, error)) (*strip, error) {
	c.mu.Lock()
	s := c.strips[at]
	if s == nil {
		s = &dataset.Once[*strip]{}
		c.strips[at] = s
	}
	c.mu.Unlock()
	return s.Get(ctx, read)
}

// block returns a block.
func (c *cache) block(ctx context.Context, at place, read func(context.Context) (*block, error)) (*block, error) {
	c.mu.Lock()
	h := c.blocks[at]
	if h == nil {
		h = &held{}
		c.blocks[at] = h
	}
	c.clock++
	h.used = c.clock
	c.mu.Unlock()
	b, err := h.Get(ctx, read)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocks[at] != h {
		return b, err // evicted during the read
	}
	if err != nil {
		delete(c.blocks, at)
		return nil, err
	}
	if h.bytes == 0 {
		h.bytes = 1 + b.bytes()
		c.bytes += h.bytes
		c.shrink(at)
	}
	return b, nil
}

// shrink evicts the blocks unused for longest until the rest fits. Blocks of the same
// row as now in other columns stay.
func (c *cache) shrink(now place) {
	for c.bytes > cacheBytes {
		var oldest *held
		var where place
		for at, h := range c.blocks {
			if h.bytes > 0 && (at.file != now.file || at.group != now.group || at.leaf == now.leaf && at.row != now.row) && (oldest == nil || h.used < oldest.used) {
				oldest, where = h, at
			}
		}
		if oldest == nil {
			return
		}
		c.bytes -= oldest.bytes
		delete(c.blocks, where)
	}
}
