package disk

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// encodedRecord is a record as it is in pack 1 at offset 0.
func encodedRecord(h header, payload []byte) []byte {
	h.size = uint64(len(payload))
	b := make([]byte, h.length())
	h.encode(b, 1, 0)
	copy(b[headerSize:], payload)
	return b
}

// sealed returns b with the magic and checksum it should have, so that the
// fuzzer gets past them.
func sealed(b []byte, magic string, sum func(rest []byte) uint64) []byte {
	b = bytes.Clone(b)
	if len(b) >= 16 {
		copy(b, magic)
		binary.LittleEndian.PutUint64(b[8:], sum(b[16:]))
	}
	return b
}

func FuzzScanPack(f *testing.F) {
	one := encodedRecord(header{key: storetest.Key(1), stamp: 5}, []byte("payload"))
	f.Add(one)
	f.Add(one[:len(one)-1])
	f.Add(append([]byte(magic), one...))
	f.Add(append(bytes.Clone(one), make([]byte, 500)...))
	f.Add(bytes.Repeat([]byte(magic), 100))
	f.Add(encodedRecord(header{kind: kindTombstone, provenance: maxProvenance}, nil)[:headerSize])
	f.Add(encodedRecord(header{kind: kinds}, nil))
	h, body := encodedGroup(similarFrom(0, 3))
	group := encodedRecord(h, body)
	f.Add(group)
	f.Add(append(bytes.Clone(group), group[:len(group)-20]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		size := int64(len(b))
		found, err := (&packFile{1, bytes.NewReader(b)}).scan(0, size)
		if err != nil {
			t.Fatal(err)
		}
		at, members := int64(0), 0
		for i, e := range found.entries {
			if members++; i == 0 || e.off != found.entries[i-1].off {
				members = 1
			}
			if members > 1 && e.isGroup() && members <= maxMembers {
				continue
			}
			if e.offset() < at || int64(e.readSize()) > e.bytes() {
				t.Fatalf("entry %+v overlaps the one before, which ends at %d", e, at)
			}
			at = e.offset() + e.bytes()
		}
		if found.end < at || found.end > size || found.end%align != 0 {
			t.Fatalf("scan ends at %d of %d, the last record at %d", found.end, size, at)
		}
		// A scan in two steps finds the same.
		again, err := (&packFile{1, bytes.NewReader(b)}).scan(found.end, size)
		if err != nil || len(again.entries) != 0 || again.end != found.end {
			t.Fatalf("going on from %d found %d more records and came to %d, %v", found.end, len(again.entries), again.end, err)
		}
	})
}

// encodedGroup returns the header and the body of a group.
func encodedGroup(records []store.Record) (h header, body []byte) {
	var w groupWriter
	for i := range records {
		h := headerOf(&records[i], time.Now())
		h.stamp = int64(i / 2)
		w.add(fingerprint(h.key), &h, records[i].Payload, records[i].Provenance)
	}
	return w.close()
}

func FuzzDecodeGroup(f *testing.F) {
	for _, n := range []int{1, 2, 50} {
		h, body := encodedGroup(similarFrom(0, n))
		f.Add(body, h.typ)
	}
	link := store.Record{Key: storetest.Key(1), Link: storetest.Key(2), Cost: -1}
	h, body := encodedGroup([]store.Record{link, similar(1), {Key: storetest.Key(3)}})
	f.Add(body, h.typ)
	f.Add(body, uint64(1<<40))
	f.Add(body[:len(body)-1], h.typ)
	f.Add([]byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, body []byte, n uint64) {
		if len(body) > maxGroupBody {
			return
		}
		g := group{header: header{kind: kindGroup, typ: n}}
		g.header.seal(body, nil)
		if err := g.open(nil, place{}, body); err != nil {
			t.Fatal(err)
		}
		_, err := g.all()
		if len(g.members) > maxMembers {
			t.Fatalf("%d members", len(g.members))
		}
		var w groupWriter
		var provenances [][]byte
		for i := range g.members {
			var h header
			g.record(&h, i)
			p := g.provenanceOf(i)
			if len(p) > maxMemberProvenance || len(p) != int(h.provenance) || h.size != uint64(len(g.members[i].payload)) {
				t.Fatalf("member %d has %d bytes of provenance: %+v", i, len(p), h)
			}
			w.add(g.members[i].fp, &h, g.members[i].payload, p)
			provenances = append(provenances, bytes.Clone(p))
		}
		if err != nil || len(g.members) == 0 {
			return
		}
		var again group
		again.header, _ = w.close()
		if err := again.open(nil, place{}, w.body); err != nil {
			t.Fatal(err)
		}
		if members, err := again.all(); err != nil || len(members) != len(g.members) {
			t.Fatalf("%d members came back as %d, %v", len(g.members), len(members), err)
		}
		for i := len(provenances) - 1; i >= 0; i-- {
			var h, same header
			g.record(&h, i)
			again.record(&same, i)
			same.moves = h.moves
			if h != same || !bytes.Equal(again.members[i].payload, g.members[i].payload) || !bytes.Equal(again.provenanceOf(i), provenances[i]) {
				t.Fatalf("member %d: %+v came back as %+v", i, h, same)
			}
		}
	})
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add(encodedRecord(header{key: storetest.Key(1), typ: 7, cost: -1, stamp: 1 << 62, moves: 3}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, same header
		if len(b) < headerSize {
			return
		}
		b = sealed(b[:headerSize], magic, func(rest []byte) uint64 { return xxh3.HashSeed(rest, seed(1, 0)) })
		if !h.decode(b, 1, 0) {
			return
		}
		if h.inline() > maxInline || h.provenance > maxProvenance {
			t.Fatalf("implausible: %+v", h)
		}
		again := make([]byte, headerSize)
		h.encode(again, 1, 0)
		if !same.decode(again, 1, 0) || same != h {
			t.Fatalf("%+v came back as %+v", h, same)
		}
		if same.decode(again, 1, align) || same.decode(again, 2, 0) {
			t.Fatal("a header is valid in another place")
		}
	})
}

func FuzzDecodeIndex(f *testing.F) {
	e := newEntry(&header{key: storetest.Key(1), size: 10, stamp: 3, moves: 1}, 64)
	f.Add(encodeIndex(1, 1000, []entry{e, e}), int64(1000))
	one, two := newMember(&header{kind: kindGroup, size: 100}, 0, 1, 5), newMember(&header{kind: kindGroup, size: 100}, 0, 2, 5)
	f.Add(encodeIndex(1, 1000, []entry{one, two, e}), int64(1000))
	two.stamp++
	f.Add(encodeIndex(1, 1000, []entry{one, two}), int64(1000))
	f.Add(encodeIndex(1, 0, nil), int64(0))
	f.Add(encodeIndex(1, 8, []entry{e}), int64(1<<40))
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
			if e.readSize() < headerSize || e.offset()+int64(e.readSize()) > covered {
				t.Fatalf("entry outside the pack: %+v", e)
			}
		}
		again, upTo, err := decodeIndex(encodeIndex(1, covered, entries), 1, size, 0)
		if err != nil || upTo != covered || !slices.Equal(again, entries) {
			t.Fatalf("%d entries came back as %d, %v", len(entries), len(again), err)
		}
	})
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add(encodeManifest(&store.Manifest{Name: "train", Pinned: true, Note: []byte("n"), Keys: []key.Key{storetest.Key(1), {}}}))
	f.Add(encodeManifest(&store.Manifest{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeManifest(sealed(b, manifestMagic, xxh3.Hash))
		if err != nil {
			return
		}
		again, err := decodeManifest(encodeManifest(&m))
		if err != nil || again.Name != m.Name || len(again.Keys) != len(m.Keys) || !bytes.Equal(again.Note, m.Note) {
			t.Fatalf("%+v came back as %+v, %v", m, again, err)
		}
	})
}

func FuzzDecodeTouches(f *testing.F) {
	f.Add(encodeTouches(map[uint64]uint32{1: 2, 1 << 60: 3}))
	f.Add(encodeTouches(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		touches, err := decodeTouches(sealed(b, touchMagic, xxh3.Hash))
		if err != nil {
			return
		}
		again, err := decodeTouches(encodeTouches(touches))
		if err != nil || len(again) != len(touches) {
			t.Fatalf("%d entries came back as %d, %v", len(touches), len(again), err)
		}
	})
}

func FuzzMergedIndex(f *testing.F) {
	m := &merged{packs: []mergedPack{{id: 1, covered: 4096, entries: 2}}, bits: 1, directory: make([]byte, 3*directoryEntry)}
	m.directory[4], m.directory[8] = 1, 2
	b := m.encodeHead(2)
	b = appendMergedEntry(b, 5, place{off: 3, read: headerSize})
	b = appendMergedEntry(b, 1<<63, place{off: 40, read: headerSize | classBlob})
	f.Add(b)
	f.Add(appendMergedEntry(b[:len(b)-mergedEntrySize:len(b)-mergedEntrySize], 1<<63, place{off: 40, read: headerSize | classGroup}))
	f.Add(b[:len(b)-1])
	f.Add((&merged{directory: make([]byte, 2*directoryEntry)}).encodeHead(0))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = decodeMerged(b) // as it is: only must not panic
		m, err := decodeMerged(sealedMerged(b))
		if err != nil {
			return
		}
		for i := range m.len() {
			l, ok := m.entry(i)
			if ok && l.offset()+int64(l.readSize()) > m.packs[l.pack].covered {
				t.Fatalf("entry %d lies outside its pack", i)
			}
			if at, found := m.find(l.fp); found && !ok && at == l.place {
				t.Fatalf("entry %d is damaged, and found", i)
			}
		}
		m.find(0)
		m.find(1<<64 - 1)
	})
}

// sealedMerged returns b with the magic and checksum it should have.
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
