package blockcache

import (
	"context"
	"sync"
	"sync/atomic"
)

const (
	// margin is what is fetched around a piece, once pieces turned out to lie side by side: the
	// items of a sample, which are asked for one after another.
	margin = 4 << 10
	// heldPieces were fetched last, of all files; they have less than half a block each, mostly.
	heldPieces = 128
)

// beside counts reads, and those that were near another one.
type beside struct{ reads, near atomic.Int64 }

// often reports whether one in four was; now is of one more.
func (c *beside) often(now bool) bool {
	if now {
		c.near.Add(1)
	}
	return 4*c.near.Load() >= c.reads.Add(1)
}

// A piece is a part of a file that was fetched as it was asked for.
type piece struct {
	of   *File
	at   int64
	data []byte
}

func (p piece) end() int64 { return p.at + int64(len(p.data)) }

// pieces are those that were fetched last.
type pieces struct {
	mu   sync.Mutex
	last [heldPieces]piece
	next int
}

var lately pieces

// read fills b with what one of them has; otherwise near says that one ends or begins about there.
func (p *pieces) read(f *File, b []byte, at int64) (ok, near bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := at + int64(len(b))
	for i := range p.last {
		switch held := &p.last[i]; {
		case held.of != f || at > held.end()+margin || end < held.at-margin:
		case at >= held.at && end <= held.end():
			copy(b, held.data[at-held.at:])
			f.beside.often(true)
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

// exact fills b with what lies at a place, of which nothing is kept in the store.
func (f *File) exact(ctx context.Context, b []byte, at int64) error {
	ok, near := lately.read(f, b, at)
	if ok {
		return nil
	}
	from, end := at, at+int64(len(b))
	if f.beside.often(near) {
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
