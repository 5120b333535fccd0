package disk

import (
	"errors"
	"slices"

	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/medium"
)

const mergedFile = "packs.idx"

// noPack stands for a pack that is not there.
const noPack = ^uint32(0)

// A base is the merged index that a process goes on from. Nil is one of nothing.
type base struct {
	*format.Merged
	release func() error // of the file
	numbers []uint32     // of its packs, in this process; noPack for those not there. Guarded by index.mu.
}

// openBase maps the file of a merged index, or reads it where that cannot be.
func openBase(files *medium.Folder, path string) (*base, error) {
	data, release, err := files.Map(path)
	if err != nil {
		return nil, err
	}
	b := &base{release: release}
	if b.Merged, err = format.DecodeMerged(data); err != nil {
		return nil, errors.Join(err, release())
	}
	b.detachAll()
	return b, nil
}

// close ends the use of b.
func (b *base) close() {
	if b != nil {
		_ = b.release() // nobody reads it any more
	}
}

func (b *base) len() int {
	if b == nil {
		return 0
	}
	return b.Len()
}

// entry returns entry i, with the number that numbers has for its pack.
func (b *base) entry(i int, numbers []uint32) (l format.Located, ok bool) {
	l, ok = b.Entry(i)
	if ok {
		l.Pack = numbers[l.Pack]
	}
	return l, ok
}

// find returns where the record of fp is.
func (b *base) find(fp uint64) (at format.Place, ok bool) {
	if b == nil {
		return format.Place{}, false
	}
	if at, ok = b.Find(fp); !ok {
		return format.Place{}, false
	}
	at.Pack = b.numbers[at.Pack]
	return at, at.Pack != noPack
}

// dead reports whether most entries are of packs that are gone.
func (b *base) dead() bool { return uint64(b.len())-b.reach() > uint64(b.len()/2) }

// attach makes p, which has the position i, one of this process's.
func (b *base) attach(i int, p *pack) { b.numbers[i] = p.number }

// detach makes a pack one that is gone.
func (b *base) detach(p *pack) {
	for i, number := range b.numbers {
		if number == p.number {
			b.numbers[i] = noPack
		}
	}
}

// detachAll makes all packs such as are not there.
func (b *base) detachAll() { b.numbers = slices.Repeat([]uint32{noPack}, len(b.Packs)) }

// position returns where a pack stands in the list, if it does.
func (b *base) position(id uint64) (i int, ok bool) {
	if b == nil {
		return 0, false
	}
	return b.Position(id)
}

// reach is how many entries are of packs that are there.
func (b *base) reach() (n uint64) {
	if b == nil {
		return 0
	}
	for i, number := range b.numbers {
		if number != noPack {
			n += b.Packs[i].Entries
		}
	}
	return n
}
