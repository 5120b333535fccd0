package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
)

// ErrOtherKey reports that the record found by a fingerprint has another key.
var ErrOtherKey = errors.New("record of another key")

// A Group is a group being read. Its members are decoded as needed.
type Group struct {
	pack    *Pack // nil if no group is read
	at      Place
	header  Header
	rest    []byte // the members not decoded yet
	members []Member
	next    int // the member after the one found last

	buf        []byte
	provenance []byte // of member described-1
	spare      []byte
	described  int
}

// groups holds Groups for single use: nothing stays cached, because every read must be
// checked.
var groups = sync.Pool{New: func() any { return new(Group) }}

// BorrowGroup returns an empty Group for one use.
func BorrowGroup() *Group { return groups.Get().(*Group) }

// GiveBack ends the use of a borrowed Group and of all slices of it.
func (g *Group) GiveBack() {
	g.Forget()
	groups.Put(g)
}

// Forget releases the group read last.
func (g *Group) Forget() { g.pack, g.members, g.rest, g.described = nil, g.members[:0], nil, 0 }

// Read reads the group at the position at, unless it was read last.
func (g *Group) Read(p *Pack, at Place) error {
	if g.pack == p && g.at == at {
		return nil
	}
	g.Forget()
	if at.ReadSize() > HeaderSize+MaxGroupBody {
		return fmt.Errorf("%w: a group cannot be as long", ErrDamaged)
	}
	g.buf = slices.Grow(g.buf[:0], at.ReadSize())[:at.ReadSize()]
	if err := p.readRecord(&g.header, at, g.buf); err != nil {
		return err
	}
	return g.open(p, at, g.buf[HeaderSize:])
}

// Take uses b, which must not change until Forget, as the group at the position at, if it
// is that group. It does nothing if that group was read last.
func (g *Group) Take(p *Pack, at Place, b []byte) error {
	if g.pack == p && g.at == at {
		return nil
	}
	g.Forget()
	if err := p.Check(&g.header, at, b); err != nil {
		return err
	}
	return g.open(p, at, b[HeaderSize:])
}

// open uses body as that of the group with g.header, after checking it.
func (g *Group) open(p *Pack, at Place, body []byte) error {
	if g.header.Kind != KindGroup {
		return fmt.Errorf("%w: a record that is not a group is in its place", ErrDamaged)
	}
	if err := g.header.Verify(body); err != nil {
		return err
	}
	g.members, g.rest, g.next, g.described = g.members[:0], body, 0, 0
	g.pack, g.at = p, at
	return nil
}

// find returns the number of the member with the fingerprint. Most callers request members
// in order.
func (g *Group) find(fp uint64) (i int, err error) {
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
	return 0, ErrOtherKey
}

// All decodes all members.
func (g *Group) All() ([]Member, error) {
	for g.more() {
		if err := g.decode(); err != nil {
			return nil, err
		}
	}
	return g.members, nil
}

// list appends to entries the entries of the members of the group with g.header at off.
func (g *Group) list(entries []Entry, off int64, body []byte) ([]Entry, error) {
	err := g.open(nil, Place{}, body)
	if err != nil {
		return entries, err
	}
	members, err := g.All()
	if err != nil {
		return entries, err
	}
	for i := range members {
		entries = append(entries, newMember(&g.header, off, members[i].fp, members[i].stamp))
	}
	return entries, nil
}

// more reports whether some members are not decoded yet.
func (g *Group) more() bool { return uint64(len(g.members)) < g.header.Type || len(g.rest) > 0 }

// decode decodes one more member.
func (g *Group) decode() error {
	n := len(g.members)
	g.members = append(g.members, Member{})
	m, before := &g.members[n], &Member{}
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
	m.prefix, m.suffix = c.length(MaxMemberProvenance), c.length(MaxMemberProvenance)
	m.middle = c.take(c.uvarint())
	m.payload = c.take(head >> memberSizeShift)
	switch {
	case c.bad, uint64(n) >= min(g.header.Type, MaxMembers),
		m.prefix+m.suffix > before.provenanceSize(), m.provenanceSize() > MaxMemberProvenance,
		len(m.payload) > MaxMemberPayload, m.link != nil && len(m.payload) > 0:
		g.members = g.members[:n]
		return fmt.Errorf("%w: member %d of a group is invalid", ErrDamaged, n)
	}
	m.fp = xxh3.Hash(m.key)
	m.bytes = len(g.rest) - len(c.b)
	g.rest = c.b
	return nil
}

// record fills in the header that member i would have as an ordinary record, without
// checksums.
func (g *Group) record(h *Header, i int) {
	m := &g.members[i]
	*h = Header{
		Kind: KindMember, Type: m.typ, Size: uint64(len(m.payload)), Cost: m.cost, Created: m.created, Stamp: m.stamp,
		ProvenanceSize: uint32(m.provenanceSize()), Moves: g.header.Moves,
	}
	copy(h.Key[:], m.key)
	if m.link != nil {
		h.Kind = KindLink
		copy(h.Ref[:], m.link)
	}
}

// Payload returns the payload of member i, valid until another group is read.
func (g *Group) Payload(i int) []byte { return g.members[i].payload }

// Provenance returns the provenance of member i, valid until the next call. The members
// before it must be decoded.
func (g *Group) Provenance(i int) []byte {
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

// Describe fills in the header of the record of fp at the position at, which may be a
// member of a group.
func (g *Group) Describe(h *Header, p *Pack, fp uint64, at Place) error {
	if !at.IsGroup() {
		return p.Header(h, at)
	}
	_, err := g.Get(h, p, fp, at)
	return err
}

// Get finds the member with the fingerprint in the group at the position at. It fills in
// its header and returns its number.
func (g *Group) Get(h *Header, p *Pack, fp uint64, at Place) (i int, err error) {
	if err := g.Read(p, at); err != nil {
		return 0, err
	}
	if i, err = g.find(fp); err != nil {
		return 0, err
	}
	g.record(h, i)
	return i, nil
}

// Describe is Group.Describe with a new Group.
func Describe(h *Header, p *Pack, fp uint64, at Place) error {
	if !at.IsGroup() {
		return p.Header(h, at)
	}
	g := BorrowGroup()
	defer g.GiveBack()
	return g.Describe(h, p, fp, at)
}

// A cursor reads untrusted bytes: after an error it returns zeros.
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

// length reads a number of at most limit.
func (c *cursor) length(limit uint64) int {
	v := c.uvarint()
	if v > limit {
		c.bad = true
		return 0
	}
	return int(v)
}
