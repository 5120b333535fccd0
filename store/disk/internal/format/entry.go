package format

// An Entry is the position of a record, as in an index file. The members of a group have
// the position, length and moves of the group.
type Entry struct {
	FP    uint64 // fingerprint of the key
	Stamp int64
	Blob  uint64 // bytes of its blob, 0 for none
	Place
	Length uint32 // of the whole record, in units of 8 bytes
	Moves  uint32
}

// A Place is the position of a record. It is small because an index in memory holds one for
// every record of a store.
type Place struct {
	Pack uint32 // assigned by the owner of several packs; 0 in entries of one pack
	Off  uint32 // in units of 8 bytes
	Read uint32 // bytes of header and payload in the pack, and the class
}

// Classes of records, in the top bits of Place.Read.
const (
	Tombstone  = 1 << 30
	classBlob  = 1 << 31
	classGroup = classBlob | Tombstone
	readMask   = Tombstone - 1
)

// Offset returns the offset of the record in its pack, in bytes.
func (p Place) Offset() int64 { return int64(p.Off) * align }

// ReadSize returns how many bytes a reader of the value needs: header and payload.
func (p Place) ReadSize() int { return int(p.Read & readMask) }

// IsBlob reports whether the payload is a blob.
func (p Place) IsBlob() bool { return p.Read&^readMask == classBlob }

// IsTombstone reports whether earlier records of the key are deleted.
func (p Place) IsTombstone() bool { return p.Read&^readMask == Tombstone }

// IsGroup reports whether the record is a member of a group.
func (p Place) IsGroup() bool { return p.Read&^readMask == classGroup }

// Bytes returns the size of the whole record.
func (e *Entry) Bytes() int64 { return int64(e.Length) * align }

// NewEntry describes the record with header h at off.
func NewEntry(h *Header, off int64) Entry {
	e := Entry{
		FP:     Fingerprint(h.Key),
		Stamp:  h.Stamp,
		Place:  Place{Off: uint32(off / align), Read: uint32(h.ReadSize())},
		Length: uint32(h.Length() / align),
		Moves:  h.Moves,
	}
	switch h.Kind {
	case KindBlob:
		e.Read |= classBlob
		e.Blob = h.Size
	case KindTombstone:
		e.Read |= Tombstone
	}
	return e
}

// newMember describes a member of the group with header h at off.
func newMember(h *Header, off int64, fp uint64, stamp int64) Entry {
	return Entry{
		FP:     fp,
		Stamp:  stamp,
		Place:  Place{Off: uint32(off / align), Read: uint32(h.ReadSize()) | classGroup},
		Length: uint32(h.Length() / align),
		Moves:  h.Moves,
	}
}

// SameRecord returns how many of the entries, ordered by position, belong to the first
// record: several for a group.
func SameRecord(entries []Entry) (n int) {
	for n < len(entries) && entries[n].Off == entries[0].Off {
		n++
	}
	return n
}

// A Located is a fingerprint and the position of its record.
type Located struct {
	FP uint64
	Place
}
