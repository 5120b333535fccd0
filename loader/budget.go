package loader

import "sync/atomic"

// A Budget bounds the bytes that several readers prefetch together. Each has an
// equal share, and may have one batch that is larger.
type Budget struct {
	bytes   int64
	readers atomic.Int64
}

// NewBudget returns a budget of this many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{bytes: bytes} }

// Bytes returns the bytes that the readers may have together.
func (b *Budget) Bytes() int64 { return b.bytes }

// Share returns the bytes that one reader may have, at most most.
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
