package disk

import (
	"errors"
	"slices"

	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

const mergedFile = "packs.idx"

// noPack represents a pack that does not exist.
const noPack = ^uint32(0)

// A base is the merged index from which a process continues. A nil base is empty.
type base struct {
	*format.Merged
	release func() error // releases the file
	numbers []uint32     // of its packs, in this process; noPack for missing ones. Guarded by index.mu.
}

// openBase maps the file of a merged index, or reads it if mapping fails.
func openBase(files *vfs.Directory, path string) (*base, error) {
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
		_ = b.release() // it has no readers now
	}
}

func (b *base) len() int {
	if b == nil {
		return 0
	}
	return b.Len()
}

// entry returns entry i, with the number of its pack in numbers.
func (b *base) entry(i int, numbers []uint32) (l format.Located, ok bool) {
	l, ok = b.Entry(i)
	if ok {
		l.Pack = numbers[l.Pack]
	}
	return l, ok
}

// find returns the position of the record of fp.
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

// attach registers p, which has position i, as a pack of this process.
func (b *base) attach(i int, p *pack) { b.numbers[i] = p.number }

// detach marks a pack as gone.
func (b *base) detach(p *pack) {
	for i, number := range b.numbers {
		if number == p.number {
			b.numbers[i] = noPack
		}
	}
}

// detachAll marks all packs as missing.
func (b *base) detachAll() { b.numbers = slices.Repeat([]uint32{noPack}, len(b.Packs)) }

// position returns the position of a pack in the list, if it is there.
func (b *base) position(id uint64) (i int, ok bool) {
	if b == nil {
		return 0, false
	}
	return b.Position(id)
}

// reach returns the number of entries in packs that exist.
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
