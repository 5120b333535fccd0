package format

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/larder-data/larder/key"
)

// A group is one record for many small ones, its members, because cheap results come by the
// million. It has one header, one checksum, and only what differs in the provenance of
// each. The header has the kind, the number of members as type, their lowest stamp as
// created, their highest stamp and highest moves. It has no key, link, cost or provenance.
// The payload is the members, one after another:
//
//	33 key
//	 n bytes of payload, times 4; plus 1 if it is a link, 2 if a type follows
//	33 key linked to, if it is a link
//	 8 type, unless it is that of the member before
//	 s cost, ns
//	 s created, ns since 1970, less that of the member before
//	 s stamp, less that of the member before
//	 n bytes at the start of the provenance that equal the member before
//	 n bytes at its end that do
//	 n bytes between them
//	   these bytes
//	   payload
//
// n is a number in the varint encoding of protocol buffers, s a signed one. The first
// member follows a member of zeros. No two members of a group have the same fingerprint.
const (
	MaxMembers   = 256
	MaxGroupBody = 64 << 10 // bytes of all members
	// Larger records stay separate, because a group would save little.
	MaxMemberPayload    = 4 << 10
	MaxMemberProvenance = 16 << 10
	// memberBound is the greatest size of a member without payload and provenance.
	memberBound = 2*key.Size + 8 + 7*binary.MaxVarintLen64
)

const (
	memberLink = 1 << iota
	memberType
	memberSizeShift = iota
)

// KindMember is the kind of a record in a group. No header in a file has it.
const KindMember = kinds

// A Member is one record of a group. Its slices alias the group.
type Member struct {
	fp                   uint64
	key, link            []byte
	typ                  uint64
	cost, created, stamp int64
	prefix, suffix       int
	middle               []byte // of the provenance
	payload              []byte
	bytes                int // size in the group
}

// Own returns how many bytes of the group belong to this member alone.
func (m *Member) Own() int { return m.bytes - len(m.middle) }

func (m *Member) provenanceSize() int { return m.prefix + len(m.middle) + m.suffix }

// A GroupWriter encodes a group.
type GroupWriter struct {
	body       []byte
	prints     []uint64 // of the members
	stamps     []int64
	first      Header
	typ        uint64
	created    int64
	size       int    // of the payload of the last member
	provenance []byte // of the last member
	moves      uint32
}

// IsSmall reports whether a record may be a member of a group of at most limit bytes.
func IsSmall(h *Header, payload, provenance []byte, limit int) bool {
	return (h.Kind == KindInline || h.Kind == KindLink) && len(payload) <= MaxMemberPayload &&
		len(provenance) <= MaxMemberProvenance && memberBound+len(payload)+len(provenance) <= limit
}

// Takes reports whether a small record still fits into the group.
func (w *GroupWriter) Takes(fp uint64, payload, provenance []byte, limit int) bool {
	return len(w.prints) < MaxMembers && len(w.body)+memberBound+len(payload)+len(provenance) <= limit &&
		!slices.Contains(w.prints, fp)
}

// Reset starts another group.
func (w *GroupWriter) Reset() {
	*w = GroupWriter{body: w.body[:0], prints: w.prints[:0], stamps: w.stamps[:0], provenance: w.provenance[:0]}
}

// Add appends a member.
func (w *GroupWriter) Add(fp uint64, h *Header, payload, provenance []byte) {
	stamp := int64(0)
	if n := len(w.stamps); n > 0 {
		stamp = w.stamps[n-1]
	} else {
		w.first = *h
	}
	head := uint64(len(payload)) << memberSizeShift
	if h.Kind == KindLink {
		head |= memberLink
	}
	if h.Type != w.typ {
		head |= memberType
	}
	prefix, suffix := inCommon(w.provenance, provenance)
	middle := provenance[prefix : len(provenance)-suffix]
	b := w.body
	b = append(b, h.Key[:]...)
	b = binary.AppendUvarint(b, head)
	if head&memberLink != 0 {
		b = append(b, h.Ref[:]...)
	}
	if head&memberType != 0 {
		b = binary.LittleEndian.AppendUint64(b, h.Type)
	}
	b = binary.AppendVarint(b, h.Cost)
	b = binary.AppendVarint(b, h.Created-w.created)
	b = binary.AppendVarint(b, h.Stamp-stamp)
	b = binary.AppendUvarint(b, uint64(prefix))
	b = binary.AppendUvarint(b, uint64(suffix))
	b = binary.AppendUvarint(b, uint64(len(middle)))
	b = append(b, middle...)
	b = append(b, payload...)
	w.body = b
	w.prints, w.stamps = append(w.prints, fp), append(w.stamps, h.Stamp)
	w.typ, w.created, w.moves, w.size = h.Type, h.Created, max(w.moves, h.Moves), len(payload)
	w.provenance = append(w.provenance[:0], provenance...)
}

// Len returns the number of members.
func (w *GroupWriter) Len() int { return len(w.prints) }

// Stamp returns the stamp of the first member, 0 if there is none.
func (w *GroupWriter) Stamp() int64 {
	if len(w.stamps) == 0 {
		return 0
	}
	return w.stamps[0]
}

// Only returns the only member as an ordinary record.
func (w *GroupWriter) Only() (h Header, payload, provenance []byte) {
	h, payload = w.first, w.body[len(w.body)-w.size:]
	h.Seal(payload, w.provenance)
	return h, payload, w.provenance
}

// Close returns the group as a record, valid until Reset.
func (w *GroupWriter) Close() (h Header, body []byte) {
	h = Header{
		Kind: KindGroup, Type: uint64(len(w.prints)), Created: slices.Min(w.stamps), Stamp: slices.Max(w.stamps), Moves: w.moves,
	}
	h.Seal(w.body, nil)
	return h, w.body
}

// List appends the entries of the members to entries; the group with header h is at off.
func (w *GroupWriter) List(entries []Entry, h *Header, off int64) []Entry {
	for i, fp := range w.prints {
		entries = append(entries, newMember(h, off, fp, w.stamps[i]))
	}
	return entries
}

// inCommon returns the lengths of the common prefix of a and b, and of the common suffix of
// the rest.
func inCommon(a, b []byte) (prefix, suffix int) {
	n := min(len(a), len(b))
	le := binary.LittleEndian
	for prefix+8 <= n && le.Uint64(a[prefix:]) == le.Uint64(b[prefix:]) {
		prefix += 8
	}
	if prefix+8 <= n {
		prefix += bits.TrailingZeros64(le.Uint64(a[prefix:])^le.Uint64(b[prefix:])) / 8
	} else {
		for prefix < n && a[prefix] == b[prefix] {
			prefix++
		}
	}
	a, b = a[prefix:], b[prefix:]
	for n -= prefix; suffix+8 <= n; suffix += 8 {
		differ := le.Uint64(a[len(a)-suffix-8:]) ^ le.Uint64(b[len(b)-suffix-8:])
		if differ != 0 {
			return prefix, suffix + bits.LeadingZeros64(differ)/8
		}
	}
	for suffix < n && a[len(a)-suffix-1] == b[len(b)-suffix-1] {
		suffix++
	}
	return prefix, suffix
}
