package blockcache

import (
	"context"
	"sync"
	"sync/atomic"
)

const (
	// margin is the number of bytes fetched around a piece, once pieces turn out to be
	// adjacent, like the items of a sample that are requested in sequence.
	margin = 4 << 10
	// heldPieces is the number of the most recent pieces held, of all files. Most have less
	// than half a block.
	heldPieces = 128
)

// adjacent counts reads, and those near another read.
type adjacent struct{ reads, near atomic.Int64 }

// often reports whether one read in four was near another; now is about the current one.
func (c *adjacent) often(now bool) bool {
	if now {
		c.near.Add(1)
	}
	return 4*c.near.Load() >= c.reads.Add(1)
}

// A piece is a part of a file, fetched exactly as requested.
type piece struct {
	of   *File
	at   int64
	data []byte
}

func (p piece) end() int64 { return p.at + int64(len(p.data)) }

// pieces are the pieces fetched most recently.
type pieces struct {
	mu   sync.Mutex
	last [heldPieces]piece
	next int
}

var lately pieces

// read fills b from a piece that contains it; otherwise near reports whether a piece
// ends or begins close to it.
func (p *pieces) read(f *File, b []byte, at int64) (ok, near bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := at + int64(len(b))
	for i := range p.last {
		switch held := &p.last[i]; {
		case held.of != f || at > held.end()+margin || end < held.at-margin:
		case at >= held.at && end <= held.end():
			copy(b, held.data[at-held.at:])
			f.adjacent.often(true)
			return true, true
		default:
			near = true
		}
	}
	return false, near
}

func (p *pieces) hold(one piece) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[p.next] = one
	p.next = (p.next + 1) % len(p.last)
}

// exact fills b with the bytes at an offset, without caching them in the store.
func (f *File) exact(ctx context.Context, b []byte, at int64) error {
	ok, near := lately.read(f, b, at)
	if ok {
		return nil
	}
	from, end := at, at+int64(len(b))
	if f.adjacent.often(near) {
		from, end = max(from-margin, 0), min(end+margin, f.Size)
	}
	all := make([]byte, end-from)
	if err := f.File.ReadAt(ctx, all, from); err != nil {
		return err
	}
	copy(b, all[at-from:])
	if len(all) <= Bytes {
		lately.hold(piece{f, from, all})
	}
	return nil
}
