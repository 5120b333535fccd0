package loader

import "sync/atomic"

// A Budget bounds the bytes that readers have ahead, all together: each of them has an equal
// share, and may have one batch that is larger.
type Budget struct {
	bytes   int64
	readers atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{bytes: bytes} }

// Bytes is how many bytes the readers may have together.
func (b *Budget) Bytes() int64 { return b.bytes }

// Share is how many bytes one reader may have, and most at most.
func (b *Budget) Share(most int64) int64 {
	if b == nil {
		return most
	}
	return min(most, b.bytes/max(1, b.readers.Load()))
}

func (b *Budget) join(by int64) {
	if b != nil {
		b.readers.Add(by)
	}
}
