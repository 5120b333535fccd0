package format

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// encodedRecord is a record as encoded in pack 1 at offset 0.
func encodedRecord(h Header, payload []byte) []byte {
	h.Size = uint64(len(payload))
	b := make([]byte, h.Length())
	h.encodeHead(b, 1, 0)
	copy(b[HeaderSize:], payload)
	return b
}

// sealed returns b with the correct magic and checksum, so that the fuzzer passes them.
func sealed(b []byte, magic string, sum func(rest []byte) uint64) []byte {
	b = bytes.Clone(b)
	if len(b) >= 16 {
		copy(b, magic)
		binary.LittleEndian.PutUint64(b[8:], sum(b[16:]))
	}
	return b
}

// sparse is a reader of b whose blocks of zeros are holes.
type sparse struct {
	*bytes.Reader
	b []byte
}

func (s sparse) Data(off int64) int64 {
	const block = 512
	for from := off &^ (block - 1); from < int64(len(s.b)); from += block {
		if len(bytes.Trim(s.b[from:min(from+block, int64(len(s.b)))], "\x00")) > 0 {
			return max(from, off)
		}
	}
	return 1<<63 - 1
}

func FuzzScanPack(f *testing.F) {
	one := encodedRecord(Header{Key: storetest.Key(1), Stamp: 5}, []byte("payload"))
	f.Add(one)
	f.Add(one[:len(one)-1])
	f.Add(append([]byte(magic), one...))
	f.Add(append(bytes.Clone(one), make([]byte, 500)...))
	f.Add(bytes.Repeat([]byte(magic), 100))
	far := Header{Key: storetest.Key(2)}
	later := append(bytes.Clone(one), make([]byte, 3*windowSize)...)
	far.encodeHead(later[len(later)-HeaderSize:], 1, int64(len(later)-HeaderSize)&^(align-1))
	f.Add(later)
	f.Add(encodedRecord(Header{Kind: KindTombstone, ProvenanceSize: MaxProvenance}, nil)[:HeaderSize])
	f.Add(encodedRecord(Header{Kind: kinds}, nil))
	h, body := encodedGroup(similarSmall(3))
	group := encodedRecord(h, body)
	f.Add(group)
	f.Add(append(bytes.Clone(group), group[:len(group)-20]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		size := int64(len(b))
		found, err := (&Pack{1, bytes.NewReader(b)}).Scan(0, size)
		if err != nil {
			t.Fatal(err)
		}
		at, members := int64(0), 0
		for i, e := range found.Entries {
			if members++; i == 0 || e.Off != found.Entries[i-1].Off {
				members = 1
			}
			if members > 1 && e.IsGroup() && members <= MaxMembers {
				continue
			}
			if e.Offset() < at || int64(e.ReadSize()) > e.Bytes() {
				t.Fatalf("entry %+v overlaps the one before, which ends at %d", e, at)
			}
			at = e.Offset() + e.Bytes()
		}
		if found.End < at || found.End > size || found.End%align != 0 {
			t.Fatalf("scan ends at %d of %d, the last record at %d", found.End, size, at)
		}
		// So does a scan with reported holes.
		holed, err := (&Pack{1, sparse{bytes.NewReader(b), b}}).Scan(0, size)
		if err != nil || !slices.Equal(holed.Entries, found.Entries) || holed.End != found.End || holed.Torn != found.Torn {
			t.Fatalf("without holes %+v, with them %+v, %v", found, holed, err)
		}
		// A scan in two steps finds the same.
		again, err := (&Pack{1, bytes.NewReader(b)}).Scan(found.End, size)
		if err != nil || len(again.Entries) != 0 || again.End != found.End {
			t.Fatalf("going on from %d found %d more records and came to %d, %v", found.End, len(again.Entries), again.End, err)
		}
	})
}

// A smallRecord is a record to be stored in a group.
type smallRecord struct {
	Header
	payload, provenance []byte
}

// similarSmall returns small records whose provenance differs in 40 of 500 bytes.
func similarSmall(n int) (all []smallRecord) {
	for i := range n {
		provenance := storetest.Payload(3, 500)
		copy(provenance[300:], storetest.Payload(uint64(i)<<8, 40))
		h := Header{Key: storetest.Key(i), Type: 7, Cost: int64(i), Created: int64(i) * 60_000}
		all = append(all, smallRecord{h, storetest.Payload(uint64(i), 66), provenance})
	}
	return all
}

// encodedGroup returns the header and the body of a group.
func encodedGroup(records []smallRecord) (h Header, body []byte) {
	var w GroupWriter
	for i, r := range records {
		r.Stamp = int64(i / 2)
		w.Add(Fingerprint(r.Key), &r.Header, r.payload, r.provenance)
	}
	return w.Close()
}

func FuzzDecodeGroup(f *testing.F) {
	for _, n := range []int{1, 2, 50} {
		h, body := encodedGroup(similarSmall(n))
		f.Add(body, h.Type)
	}
	link := smallRecord{Header: Header{Kind: KindLink, Key: storetest.Key(1), Ref: storetest.Key(2), Cost: -1}}
	h, body := encodedGroup([]smallRecord{link, similarSmall(2)[1], {Header: Header{Key: storetest.Key(3)}}})
	f.Add(body, h.Type)
	f.Add(body, uint64(1<<40))
	f.Add(body[:len(body)-1], h.Type)
	f.Add([]byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, body []byte, n uint64) {
		if len(body) > MaxGroupBody {
			return
		}
		g := Group{header: Header{Kind: KindGroup, Type: n}}
		g.header.Seal(body, nil)
		if err := g.open(nil, Place{}, body); err != nil {
			t.Fatal(err)
		}
		_, err := g.All()
		if len(g.members) > MaxMembers {
			t.Fatalf("%d members", len(g.members))
		}
		var w GroupWriter
		var provenances [][]byte
		for i := range g.members {
			var h Header
			g.record(&h, i)
			p := g.Provenance(i)
			if len(p) > MaxMemberProvenance || len(p) != int(h.ProvenanceSize) || h.Size != uint64(len(g.members[i].payload)) {
				t.Fatalf("member %d has %d bytes of provenance: %+v", i, len(p), h)
			}
			w.Add(g.members[i].fp, &h, g.members[i].payload, p)
			provenances = append(provenances, bytes.Clone(p))
		}
		if err != nil || len(g.members) == 0 {
			return
		}
		var again Group
		again.header, _ = w.Close()
		if err := again.open(nil, Place{}, w.body); err != nil {
			t.Fatal(err)
		}
		if members, err := again.All(); err != nil || len(members) != len(g.members) {
			t.Fatalf("%d members came back as %d, %v", len(g.members), len(members), err)
		}
		for i := len(provenances) - 1; i >= 0; i-- {
			var h, same Header
			g.record(&h, i)
			again.record(&same, i)
			same.Moves = h.Moves
			if h != same || !bytes.Equal(again.members[i].payload, g.members[i].payload) || !bytes.Equal(again.Provenance(i), provenances[i]) {
				t.Fatalf("member %d: %+v came back as %+v", i, h, same)
			}
		}
	})
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add(encodedRecord(Header{Key: storetest.Key(1), Type: 7, Cost: -1, Stamp: 1 << 62, Moves: 3}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, same Header
		if len(b) < HeaderSize {
			return
		}
		b = sealed(b[:HeaderSize], magic, func(rest []byte) uint64 { return xxh3.HashSeed(rest, seed(1, 0)) })
		if !h.decode(b, 1, 0) {
			return
		}
		if h.inline() > MaxInline || h.ProvenanceSize > MaxProvenance {
			t.Fatalf("implausible: %+v", h)
		}
		again := make([]byte, HeaderSize)
		h.encodeHead(again, 1, 0)
		if !same.decode(again, 1, 0) || same != h {
			t.Fatalf("%+v came back as %+v", h, same)
		}
		if same.decode(again, 1, align) || same.decode(again, 2, 0) {
			t.Fatal("a header is valid in another place")
		}
	})
}

func FuzzDecodeIndex(f *testing.F) {
	e := NewEntry(&Header{Key: storetest.Key(1), Size: 10, Stamp: 3, Moves: 1}, 64)
	f.Add(EncodeIndex(1, 1000, []Entry{e, e}), int64(1000))
	next := e
	next.Off = 32
	f.Add(EncodeIndex(1, 1000, []Entry{e, next}), int64(1000))
	one, two := newMember(&Header{Kind: KindGroup, Size: 100}, 0, 1, 5), newMember(&Header{Kind: KindGroup, Size: 100}, 0, 2, 5)
	f.Add(EncodeIndex(1, 1000, []Entry{one, two, next}), int64(1000))
	within := EncodeIndex(1, 1000, []Entry{one, two, next})
	binary.LittleEndian.PutUint32(within[len(within)-16:], one.Off) // a record in place of the group
	f.Add(within, int64(1000))
	two.Stamp++
	f.Add(EncodeIndex(1, 1000, []Entry{one, two}), int64(1000))
	f.Add(EncodeIndex(1, 0, nil), int64(0))
	f.Add(EncodeIndex(1, 8, []Entry{e}), int64(1<<40))
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		b = sealed(b, indexMagic, xxh3.Hash)
		entries, covered, err := decodeIndex(b, 1, size, 0)
		if err != nil {
			return
		}
		if covered < 0 || covered > size {
			t.Fatalf("covers %d of %d", covered, size)
		}
		for _, e := range entries {
			if e.ReadSize() < HeaderSize || e.Offset()+int64(e.ReadSize()) > covered {
				t.Fatalf("entry outside the pack: %+v", e)
			}
		}
		again, upTo, err := decodeIndex(EncodeIndex(1, covered, entries), 1, size, 0)
		if err != nil || upTo != covered || !slices.Equal(again, entries) {
			t.Fatalf("%d entries came back as %d, %v", len(entries), len(again), err)
		}
	})
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add(EncodeManifest(&store.Manifest{Name: "train", Pinned: true, Note: []byte("n"), Keys: []key.Key{storetest.Key(1), {}}}))
	f.Add(EncodeManifest(&store.Manifest{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeManifest(sealed(b, manifestMagic, xxh3.Hash))
		if err != nil {
			return
		}
		again, err := DecodeManifest(EncodeManifest(&m))
		if err != nil || again.Name != m.Name || len(again.Keys) != len(m.Keys) || !bytes.Equal(again.Note, m.Note) {
			t.Fatalf("%+v came back as %+v, %v", m, again, err)
		}
	})
}

func FuzzDecodeTouches(f *testing.F) {
	f.Add(EncodeTouches(map[uint64]uint32{1: 2, 1 << 60: 3}))
	f.Add(EncodeTouches(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		touches, err := DecodeTouches(sealed(b, touchMagic, xxh3.Hash))
		if err != nil {
			return
		}
		again, err := DecodeTouches(EncodeTouches(touches))
		if err != nil || len(again) != len(touches) {
			t.Fatalf("%d entries came back as %d, %v", len(touches), len(again), err)
		}
	})
}

func FuzzMergedIndex(f *testing.F) {
	m := &Merged{Packs: []MergedPack{{ID: 1, Covered: 4096, Entries: 2}}, bits: 1, directory: make([]byte, 3*directoryEntry)}
	m.directory[4], m.directory[8] = 1, 2
	b := m.encodeHead(2)
	b = appendMergedEntry(b, 5, Place{Off: 3, Read: HeaderSize})
	b = appendMergedEntry(b, 1<<63, Place{Off: 40, Read: HeaderSize | classBlob})
	f.Add(b)
	f.Add(appendMergedEntry(b[:len(b)-MergedEntrySize:len(b)-MergedEntrySize], 1<<63, Place{Off: 40, Read: HeaderSize | classGroup}))
	f.Add(b[:len(b)-1])
	f.Add((&Merged{directory: make([]byte, 2*directoryEntry)}).encodeHead(0))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = DecodeMerged(b) // unchanged: only must not panic
		m, err := DecodeMerged(sealedMerged(b))
		if err != nil {
			return
		}
		for i := range m.Len() {
			l, ok := m.Entry(i)
			if ok && l.Offset()+int64(l.ReadSize()) > m.Packs[l.Pack].Covered {
				t.Fatalf("entry %d lies outside its pack", i)
			}
			if at, found := m.Find(l.FP); found && !ok && at == l.Place {
				t.Fatalf("entry %d is damaged, and found", i)
			}
		}
		m.Find(0)
		m.Find(1<<64 - 1)
	})
}

// sealedMerged returns b with the correct magic and checksum.
func sealedMerged(b []byte) []byte {
	b = bytes.Clone(b)
	le := binary.LittleEndian
	if len(b) < mergedHeaderSize || le.Uint64(b[40:]) > maxDirBits {
		return b
	}
	copy(b, mergedMagic)
	end := mergedHeaderSize + le.Uint64(b[24:])*mergedPackSize + (1<<le.Uint64(b[40:])+1)*directoryEntry
	if end >= mergedHeaderSize && end <= uint64(len(b)) {
		le.PutUint64(b[8:], xxh3.Hash(b[16:end]))
	}
	return b
}
