package disk

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
)

// A record in a pack is a header, the payload unless it is in a blob, the
// provenance, and zeros up to a multiple of 8 bytes. Small ones that were put
// together are one record, a group: see maxMembers. Numbers are
// little-endian. The header:
//
//	 0  8 magic
//	 8  8 XXH3 of bytes 16 to 152, seeded with the pack's id and the offset
//	16  1 kind
//	17 33 key
//	50 33 key linked to, or digest of the blob
//	83  5 zero
//	88  8 type
//	96  8 bytes of payload
//	104 8 XXH3 of the payload
//	112 8 XXH3 of the provenance
//	120 8 cost, ns
//	128 8 created, ns since 1970
//	136 8 stamp: orders records of one key; about when it was written, ns
//	144 4 bytes of provenance
//	148 4 how often Collect moved it
//
// The seed makes a record valid in its own place only, so that a pack kept as
// somebody's payload is never taken for records.
const (
	magic         = "LARDREC\x01"
	headerSize    = 152
	align         = 8
	maxInline     = 512 << 20 // bytes of payload in a pack
	maxProvenance = 16 << 20
	maxPack       = align << 32 // offsets are kept as 32 bits of 8 bytes
)

// Kinds of record.
const (
	kindInline    byte = iota // the payload follows the header
	kindBlob                  // the payload is a blob file
	kindLink                  // no payload, but another key
	kindTombstone             // earlier records of the key are deleted
	kindGroup                 // the payload is many small records
	kinds
)

type header struct {
	kind          byte
	key           key.Key
	ref           [key.Size]byte
	typ           uint64
	size          uint64
	sum           uint64
	provenanceSum uint64
	cost          int64
	created       int64
	stamp         int64
	provenance    uint32
	moves         uint32
}

var (
	errDamaged  = errors.New("damaged")
	errNoRecord = fmt.Errorf("%w: no record begins here", errDamaged)
)

// inline is the number of bytes of payload in the pack.
func (h *header) inline() int64 {
	if h.kind == kindInline || h.kind == kindGroup {
		return int64(h.size)
	}
	return 0
}

// seal fills in the lengths and checksums of what follows the header.
func (h *header) seal(payload, provenance []byte) {
	h.provenance, h.provenanceSum = uint32(len(provenance)), xxh3.Hash(provenance)
	if h.kind == kindInline || h.kind == kindGroup {
		h.size, h.sum = uint64(len(payload)), xxh3.Hash(payload)
	}
}

// readSize is what a reader of the value needs: header and inline payload.
func (h *header) readSize() int64 { return headerSize + h.inline() }

// length is the size of the whole record, a multiple of align.
func (h *header) length() int64 { return roundUp(h.readSize() + int64(h.provenance)) }

func roundUp(n int64) int64 { return (n + align - 1) &^ (align - 1) }

func seed(pack uint64, off int64) uint64 { return pack + uint64(off) }

// encode writes h to the first headerSize bytes of b.
func (h *header) encode(b []byte, pack uint64, off int64) {
	b = b[:headerSize]
	clear(b)
	le := binary.LittleEndian
	copy(b, magic)
	b[16] = h.kind
	copy(b[17:], h.key[:])
	copy(b[50:], h.ref[:])
	le.PutUint64(b[88:], h.typ)
	le.PutUint64(b[96:], h.size)
	le.PutUint64(b[104:], h.sum)
	le.PutUint64(b[112:], h.provenanceSum)
	le.PutUint64(b[120:], uint64(h.cost))
	le.PutUint64(b[128:], uint64(h.created))
	le.PutUint64(b[136:], uint64(h.stamp))
	le.PutUint32(b[144:], h.provenance)
	le.PutUint32(b[148:], h.moves)
	le.PutUint64(b[8:], xxh3.HashSeed(b[16:], seed(pack, off)))
}

// encodeWhole writes the record, with its payload if that is inline, to b, which
// has h.length() bytes.
func (h *header) encodeWhole(b []byte, pack uint64, off int64, payload, provenance []byte) {
	h.encode(b, pack, off)
	at := headerSize + copy(b[headerSize:], payload)
	at += copy(b[at:], provenance)
	clear(b[at:])
}

// decode reads a header from the first headerSize bytes of b. It reports
// false for bytes that are not a record of this pack at this offset.
func (h *header) decode(b []byte, pack uint64, off int64) bool {
	b = b[:headerSize]
	le := binary.LittleEndian
	if string(b[:len(magic)]) != magic || le.Uint64(b[8:]) != xxh3.HashSeed(b[16:], seed(pack, off)) {
		return false
	}
	h.kind = b[16]
	copy(h.key[:], b[17:])
	copy(h.ref[:], b[50:])
	h.typ = le.Uint64(b[88:])
	h.size = le.Uint64(b[96:])
	h.sum = le.Uint64(b[104:])
	h.provenanceSum = le.Uint64(b[112:])
	h.cost = int64(le.Uint64(b[120:]))
	h.created = int64(le.Uint64(b[128:]))
	h.stamp = int64(le.Uint64(b[136:]))
	h.provenance = le.Uint32(b[144:])
	h.moves = le.Uint32(b[148:])
	return h.plausible()
}

// plausible bounds what a reader allocates.
func (h *header) plausible() bool {
	switch h.kind {
	case kindInline:
		return h.size <= maxInline && h.provenance <= maxProvenance
	case kindBlob:
		return h.size <= 1<<62 && h.provenance <= maxProvenance
	case kindGroup:
		return h.size <= maxGroupBody && h.provenance == 0 && h.typ <= maxMembers
	default:
		return h.kind < kinds && h.size == 0 && h.provenance <= maxProvenance
	}
}

// verify checks the payload of an inline record, or a group.
func (h *header) verify(payload []byte) error {
	if xxh3.Hash(payload) != h.sum {
		return fmt.Errorf("%w: payload has a bad checksum", errDamaged)
	}
	return nil
}

// fingerprint is what the index knows of a key. Readers compare whole keys.
func fingerprint(k key.Key) uint64 { return xxh3.Hash(k[:]) }
