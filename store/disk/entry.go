package disk

// An entry says where a record is, as an index file keeps it. The members of a
// group have the place, the length and the moves of the group.
type entry struct {
	fp    uint64
	stamp int64
	blob  uint64 // bytes of its blob, 0 for none
	place
	length uint32 // of the whole record, in units of align
	moves  uint32
}

// A place is where the latest record of a key is. It is small because the
// index holds one for every record of the store.
type place struct {
	pack uint32 // number of the pack in this process; 0 in files
	off  uint32 // in units of align
	read uint32 // bytes of header and payload in the pack, and the class
}

// The class of a record, in the top bits of place.read.
const (
	classTombstone = 1 << 30
	classBlob      = 1 << 31
	classGroup     = classBlob | classTombstone
	readMask       = classTombstone - 1
)

func (p place) offset() int64     { return int64(p.off) * align }
func (p place) readSize() int     { return int(p.read & readMask) }
func (p place) isBlob() bool      { return p.read&^readMask == classBlob }
func (p place) isTombstone() bool { return p.read&^readMask == classTombstone }
func (p place) isGroup() bool     { return p.read&^readMask == classGroup }

func (e *entry) bytes() int64 { return int64(e.length) * align }

// newEntry describes the record with header h at off.
func newEntry(h *header, off int64) entry {
	e := entry{
		fp:     fingerprint(h.key),
		stamp:  h.stamp,
		place:  place{off: uint32(off / align), read: uint32(h.readSize())},
		length: uint32(h.length() / align),
		moves:  h.moves,
	}
	switch h.kind {
	case kindBlob:
		e.read |= classBlob
		e.blob = h.size
	case kindTombstone:
		e.read |= classTombstone
	}
	return e
}

// newMember describes a member of the group with header h at off.
func newMember(h *header, off int64, fp uint64, stamp int64) entry {
	return entry{
		fp:     fp,
		stamp:  stamp,
		place:  place{off: uint32(off / align), read: uint32(h.readSize()) | classGroup},
		length: uint32(h.length() / align),
		moves:  h.moves,
	}
}

// sameRecord returns how many of the entries, ordered by place, are of the record
// that the first is of: more than one of a group.
func sameRecord(entries []entry) (n int) {
	for n < len(entries) && entries[n].off == entries[0].off {
		n++
	}
	return n
}

// A located record is a fingerprint and its place.
type located struct {
	fp uint64
	place
}
