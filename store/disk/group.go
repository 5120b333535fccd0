package disk

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
)

// A group is one record for many small ones, its members, as results that cost
// little come by the million: one header, one checksum, and of the provenance of
// each what differs. The header has the kind, as type how many members there are,
// as created the lowest and as stamp the highest of their stamps, the highest of
// their moves, and no key, link, cost or provenance. The payload is the members,
// one after another:
//
//	33 key
//	 n bytes of payload, times 4; plus 1 if it is a link, 2 if a type follows
//	33 key linked to, if it is a link
//	 8 type, unless it is that of the member before
//	 s cost, ns
//	 s created, ns since 1970, less that of the member before
//	 s stamp, less that of the member before
//	 n how many bytes the provenance begins with as that of the member before does
//	 n how many it ends with as that does
//	 n how many are between
//	   those
//	   payload
//
// n is a number in the varint encoding of protocol buffers, s one with a sign. A
// member that comes first follows one of nothing but zeros. No two members of a
// group have the same fingerprint.
const (
	maxMembers   = 256
	maxGroupBody = 64 << 10
	// What has more than this is a record of its own: little would be saved.
	maxMemberPayload    = 4 << 10
	maxMemberProvenance = 16 << 10
	// memberBound is what a member takes at most besides payload and provenance.
	memberBound = 2*key.Size + 8 + 7*binary.MaxVarintLen64
)

const (
	memberLink = 1 << iota
	memberType
	memberSizeShift = iota
)

// kindMember is the kind of a record in a group, which no header in a file has.
const kindMember = kinds

// A member is one record of a group. Its slices are parts of the group.
type member struct {
	fp                   uint64
	key, link            []byte
	typ                  uint64
	cost, created, stamp int64
	prefix, suffix       int
	middle               []byte // of the provenance
	payload              []byte
	bytes                int // that it takes in the group
}

func (m *member) provenance() int { return m.prefix + len(m.middle) + m.suffix }

// A groupWriter encodes a group.
type groupWriter struct {
	body       []byte
	prints     []uint64 // of the members
	stamps     []int64
	first      header
	typ        uint64
	created    int64
	size       int    // of the payload of the last member
	provenance []byte // of the last member
	moves      uint32
}

// isSmall reports whether a record may be a member of a group that takes at most
// limit bytes.
func isSmall(h *header, payload, provenance []byte, limit int) bool {
	return (h.kind == kindInline || h.kind == kindLink) && len(payload) <= maxMemberPayload &&
		len(provenance) <= maxMemberProvenance && memberBound+len(payload)+len(provenance) <= limit
}

// takes reports whether a record that is small still fits into the group.
func (w *groupWriter) takes(fp uint64, payload, provenance []byte, limit int) bool {
	return len(w.prints) < maxMembers && len(w.body)+memberBound+len(payload)+len(provenance) <= limit &&
		!slices.Contains(w.prints, fp)
}

func (w *groupWriter) reset() {
	*w = groupWriter{body: w.body[:0], prints: w.prints[:0], stamps: w.stamps[:0], provenance: w.provenance[:0]}
}

// add appends a member.
func (w *groupWriter) add(fp uint64, h *header, payload, provenance []byte) {
	stamp := int64(0)
	if n := len(w.stamps); n > 0 {
		stamp = w.stamps[n-1]
	} else {
		w.first = *h
	}
	head := uint64(len(payload)) << memberSizeShift
	if h.kind == kindLink {
		head |= memberLink
	}
	if h.typ != w.typ {
		head |= memberType
	}
	prefix, suffix := inCommon(w.provenance, provenance)
	middle := provenance[prefix : len(provenance)-suffix]
	b := w.body
	b = append(b, h.key[:]...)
	b = binary.AppendUvarint(b, head)
	if head&memberLink != 0 {
		b = append(b, h.ref[:]...)
	}
	if head&memberType != 0 {
		b = binary.LittleEndian.AppendUint64(b, h.typ)
	}
	b = binary.AppendVarint(b, h.cost)
	b = binary.AppendVarint(b, h.created-w.created)
	b = binary.AppendVarint(b, h.stamp-stamp)
	b = binary.AppendUvarint(b, uint64(prefix))
	b = binary.AppendUvarint(b, uint64(suffix))
	b = binary.AppendUvarint(b, uint64(len(middle)))
	b = append(b, middle...)
	b = append(b, payload...)
	w.body = b
	w.prints, w.stamps = append(w.prints, fp), append(w.stamps, h.stamp)
	w.typ, w.created, w.moves, w.size = h.typ, h.created, max(w.moves, h.moves), len(payload)
	w.provenance = append(w.provenance[:0], provenance...)
}

// header is that of the group.
func (w *groupWriter) header() header {
	return header{
		kind: kindGroup, typ: uint64(len(w.prints)), created: slices.Min(w.stamps), stamp: slices.Max(w.stamps), moves: w.moves,
	}
}

// inCommon returns how many bytes b begins with, and how many of the others it
// ends with, as a does.
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

// A group is one that is read, as far as it was asked for.
type group struct {
	pack    *pack // nil for none
	at      place
	header  header
	rest    []byte // the members that were not looked at
	members []member
	next    int // the member after the one that was found last

	buf        []byte
	provenance []byte // of member described-1
	spare      []byte
	described  int
}

// groups are for one use each: what was read is not kept, as every read is to be
// checked.
var groups = sync.Pool{New: func() any { return new(group) }}

func borrowGroup() *group { return groups.Get().(*group) }

func (g *group) giveBack() {
	g.forget()
	groups.Put(g)
}

func (g *group) forget() { g.pack, g.members, g.rest, g.described = nil, g.members[:0], nil, 0 }

// read reads the group at at, unless it is the one read last.
func (g *group) read(p *pack, at place) error {
	if g.pack == p && g.at == at {
		return nil
	}
	g.forget()
	if at.readSize() > headerSize+maxGroupBody {
		return fmt.Errorf("%w: a group cannot be as long", errDamaged)
	}
	g.buf = slices.Grow(g.buf[:0], at.readSize())[:at.readSize()]
	if err := p.readRecord(&g.header, at, g.buf); err != nil {
		return err
	}
	return g.open(p, at, g.buf[headerSize:])
}

// open takes a body for that of the group with g.header, if it is that.
func (g *group) open(p *pack, at place, body []byte) error {
	if g.header.kind != kindGroup {
		return fmt.Errorf("%w: a record that is no group is in its place", errDamaged)
	}
	if err := g.header.verify(body); err != nil {
		return err
	}
	g.members, g.rest, g.next, g.described = g.members[:0], body, 0, 0
	g.pack, g.at = p, at
	return nil
}

// find returns which member has the fingerprint. Members are mostly asked for
// one after another.
func (g *group) find(fp uint64) (i int, err error) {
	for i = g.next; i < len(g.members) || g.more(); i++ {
		if i >= len(g.members) {
			if err := g.decode(); err != nil {
				return 0, err
			}
		}
		if g.members[i].fp == fp {
			g.next = i + 1
			return i, nil
		}
	}
	for i = range g.members[:min(g.next, len(g.members))] {
		if g.members[i].fp == fp {
			g.next = i + 1
			return i, nil
		}
	}
	return 0, errOtherKey
}

// all looks at all members.
func (g *group) all() ([]member, error) {
	for g.more() {
		if err := g.decode(); err != nil {
			return nil, err
		}
	}
	return g.members, nil
}

// list appends the entries of the members of the group with g.header at off to
// entries.
func (g *group) list(entries []entry, off int64, body []byte) ([]entry, error) {
	err := g.open(nil, place{}, body)
	if err != nil {
		return entries, err
	}
	members, err := g.all()
	if err != nil {
		return entries, err
	}
	for i := range members {
		entries = append(entries, newMember(&g.header, off, members[i].fp, members[i].stamp))
	}
	return entries, nil
}

// more reports whether there are members that were not looked at.
func (g *group) more() bool { return uint64(len(g.members)) < g.header.typ || len(g.rest) > 0 }

// decode looks at one more member.
func (g *group) decode() error {
	n := len(g.members)
	g.members = append(g.members, member{})
	m, before := &g.members[n], &member{}
	if n > 0 {
		before = &g.members[n-1]
	}
	c := cursor{b: g.rest}
	m.key, m.typ = c.take(key.Size), before.typ
	head := c.uvarint()
	if head&memberLink != 0 {
		m.link = c.take(key.Size)
	}
	if head&memberType != 0 {
		if b := c.take(8); b != nil {
			m.typ = binary.LittleEndian.Uint64(b)
		}
	}
	m.cost, m.created, m.stamp = c.varint(), before.created+c.varint(), before.stamp+c.varint()
	m.prefix, m.suffix = c.length(maxMemberProvenance), c.length(maxMemberProvenance)
	m.middle = c.take(c.uvarint())
	m.payload = c.take(head >> memberSizeShift)
	switch {
	case c.bad, uint64(n) >= min(g.header.typ, maxMembers),
		m.prefix+m.suffix > before.provenance(), m.provenance() > maxMemberProvenance,
		len(m.payload) > maxMemberPayload, m.link != nil && len(m.payload) > 0:
		g.members = g.members[:n]
		return fmt.Errorf("%w: member %d of a group is none", errDamaged, n)
	}
	m.fp = xxh3.Hash(m.key)
	m.bytes = len(g.rest) - len(c.b)
	g.rest = c.b
	return nil
}

// record fills in the header that member i would have as a record of its own, but
// for checksums.
func (g *group) record(h *header, i int) {
	m := &g.members[i]
	*h = header{
		kind: kindMember, typ: m.typ, size: uint64(len(m.payload)), cost: m.cost, created: m.created, stamp: m.stamp,
		provenance: uint32(m.provenance()), moves: g.header.moves,
	}
	copy(h.key[:], m.key)
	if m.link != nil {
		h.kind = kindLink
		copy(h.ref[:], m.link)
	}
}

// provenanceOf returns the provenance of member i, valid until the next call.
// Members before it must have been looked at.
func (g *group) provenanceOf(i int) []byte {
	if i < g.described-1 {
		g.described = 0
	}
	if g.described == 0 {
		g.provenance = g.provenance[:0]
	}
	for ; g.described <= i; g.described++ {
		m, before := &g.members[g.described], g.provenance
		b := g.spare[:0]
		b = append(b, before[:m.prefix]...)
		b = append(b, m.middle...)
		b = append(b, before[len(before)-m.suffix:]...)
		g.provenance, g.spare = b, before
	}
	return g.provenance
}

// describe fills in the header of the record of fp at at, which may be that of a
// member of a group.
func (g *group) describe(h *header, p *pack, fp uint64, at place) error {
	if !at.isGroup() {
		return p.header(h, at)
	}
	_, err := g.get(h, p, fp, at)
	return err
}

// get fills in the header of the member of the group at at that has the
// fingerprint.
func (g *group) get(h *header, p *pack, fp uint64, at place) (i int, err error) {
	if err := g.read(p, at); err != nil {
		return 0, err
	}
	if i, err = g.find(fp); err != nil {
		return 0, err
	}
	g.record(h, i)
	return i, nil
}

// describe is that of a group for one use.
func describe(h *header, p *pack, fp uint64, at place) error {
	if !at.isGroup() {
		return p.header(h, at)
	}
	g := borrowGroup()
	defer g.giveBack()
	return g.describe(h, p, fp, at)
}

// A cursor reads what may be anything: once it is bad, it gives zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.bad, c.b = true, nil
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) uvarint() (v uint64) {
	for i, b := range c.b {
		if b < 0x80 {
			if i == binary.MaxVarintLen64-1 && b > 1 {
				break
			}
			c.b = c.b[i+1:]
			return v | uint64(b)<<(7*i)
		}
		if i == binary.MaxVarintLen64-1 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
	}
	c.bad, c.b = true, nil
	return 0
}

func (c *cursor) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// length reads a number that is at most limit.
func (c *cursor) length(limit uint64) int {
	v := c.uvarint()
	if v > limit {
		c.bad = true
		return 0
	}
	return int(v)
}
