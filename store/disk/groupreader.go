package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
)

// errOtherKey says that the record found by a fingerprint has another key.
var errOtherKey = errors.New("record of another key")

// A group is one that is read, as far as it was asked for.
type group struct {
	pack    *packFile // nil for none
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
func (g *group) read(p *packFile, at place) error {
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

// lies takes b, which must not change until forget, for the group at at, if it is
// that and not the one read last.
func (g *group) lies(p *packFile, at place, b []byte) error {
	if g.pack == p && g.at == at {
		return nil
	}
	g.forget()
	if err := p.check(&g.header, at, b); err != nil {
		return err
	}
	return g.open(p, at, b[headerSize:])
}

// open takes a body for that of the group with g.header, if it is that.
func (g *group) open(p *packFile, at place, body []byte) error {
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

// payload returns the payload of member i, valid until another group is read.
func (g *group) payload(i int) []byte { return g.members[i].payload }

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
func (g *group) describe(h *header, p *packFile, fp uint64, at place) error {
	if !at.isGroup() {
		return p.header(h, at)
	}
	_, err := g.get(h, p, fp, at)
	return err
}

// get fills in the header of the member of the group at at that has the
// fingerprint.
func (g *group) get(h *header, p *packFile, fp uint64, at place) (i int, err error) {
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
func describe(h *header, p *packFile, fp uint64, at place) error {
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
