package docs_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
)

// A layout is a table of the page on the store with the positions of fields.
type layout map[string]struct{ at, size int }

var field = regexp.MustCompile("(?m)^\\| (\\d+) \\| (\\d+) \\| `([a-z-]+)`")

// layoutOf reads the table below a heading.
func layoutOf(t *testing.T, heading string) layout {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "internals/store.md"), "# "+heading+"\n")
	if !ok {
		t.Fatalf("the page has no heading %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	all := layout{}
	for _, m := range field.FindAllStringSubmatch(text, -1) {
		at, _ := strconv.Atoi(m[1]) // digits
		size, _ := strconv.Atoi(m[2])
		all[m[3]] = struct{ at, size int }{at, size}
	}
	return all
}

// bytes returns a field.
func (l layout) bytes(t *testing.T, b []byte, name string) []byte {
	t.Helper()
	f, ok := l[name]
	if !ok || len(b) < f.at+f.size {
		t.Fatalf("there is no field %s in %d bytes", name, len(b))
	}
	return b[f.at : f.at+f.size]
}

// number returns a numeric field.
func (l layout) number(t *testing.T, b []byte, name string) uint64 {
	t.Helper()
	var n [8]byte
	copy(n[:], l.bytes(t, b, name))
	return binary.LittleEndian.Uint64(n[:])
}

// TestStoreIsAsThePageSays writes a small store and reads it by the page alone.
func TestStoreIsAsThePageSays(t *testing.T) {
	dir := t.TempDir()
	large := bytes.Repeat([]byte("blob"), 64<<10)
	records := fill(t, dir, large)
	name := only(t, filepath.Join(dir, "packs", "*.pack"))
	pack := []byte(read(t, name))
	id, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), ".pack"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	h := layoutOf(t, "Header of a record")
	at := 0
	for i, want := range records {
		b := pack[at:]
		if got := string(h.bytes(t, b, "magic")); got != "LARDREC\x01" {
			t.Fatalf("record %d begins with %q", i, got)
		}
		header := b[:h["moves"].at+h["moves"].size]
		if h.number(t, b, "checksum") != xxh3.HashSeed(header[16:], id+uint64(at)) {
			t.Errorf("record %d: the checksum of the header is another", i)
		}
		if got := key.Key(h.bytes(t, b, "key")); got != want.Key {
			t.Errorf("record %d has the key %s, not %s", i, got, want.Key)
		}
		size, rest := int(h.number(t, b, "size")), b[len(header):]
		switch kind := h.number(t, b, "kind"); {
		case kind == 0:
			if got := rest[:size]; !bytes.Equal(got, want.Payload) || h.number(t, b, "payload-checksum") != xxh3.Hash(got) {
				t.Errorf("record %d holds %q", i, got)
			}
			rest = rest[size:]
		case kind == 1:
			ref := key.Digest(h.bytes(t, b, "ref"))
			hex := fmt.Sprintf("%x", ref[1:])
			if ref != key.DigestOf(large) || size != len(large) || read(t, filepath.Join(dir, "blobs", hex[:2], hex)) != string(large) {
				t.Errorf("record %d: the blob is another", i)
			}
		case kind == 2 && key.Key(h.bytes(t, b, "ref")) == want.Link, kind == 3 && i == len(records)-1:
		default:
			t.Errorf("record %d is of kind %d", i, kind)
		}
		n := int(h.number(t, b, "provenance-size"))
		if got := rest[:n]; string(got) != string(want.Provenance) || h.number(t, b, "provenance-checksum") != xxh3.Hash(got) {
			t.Errorf("record %d has the provenance %q", i, got)
		}
		if i < len(records)-1 && (h.number(t, b, "type") != want.Type || h.number(t, b, "cost") != uint64(want.Cost) || h.number(t, b, "created") != uint64(want.Created.UnixNano())) {
			t.Errorf("record %d: type, cost or time is another", i)
		}
		at += (len(b) - len(rest) + n + 7) / 8 * 8
	}
	if at != len(pack) {
		t.Errorf("%d bytes follow the last record", len(pack)-at)
	}
	checkManifest(t, dir, records)
	checkFormat(t, dir)
	checkIndex(t, dir, name, len(pack), records)
}

// fill writes a record of each kind, and a manifest.
func fill(t *testing.T, dir string, large []byte) []store.Record {
	t.Helper()
	s := open(t, dir)
	defer closed(t, s)
	records := []store.Record{
		{Payload: []byte("small"), Provenance: []byte("made by hand"), Type: 7},
		{Payload: large, Provenance: []byte("repeated")},
		{},
		{Payload: []byte("gone")},
	}
	for i := range records {
		r := &records[i]
		r.Key[0], r.Key[32] = 1, byte(i+1)
		r.Cost, r.Created = time.Duration(i)*time.Second, time.Unix(1_700_000_000, int64(i))
		if i == 2 {
			r.Link = records[0].Key
		}
		if err := s.Put(context.Background(), *r); err != nil {
			t.Fatal(err)
		}
	}
	last := records[len(records)-1].Key
	if err := s.Delete(context.Background(), last); err != nil {
		t.Fatal(err)
	}
	err := s.PutManifest(context.Background(), store.Manifest{Name: "/flow.yaml#node", Pinned: true, Note: []byte("note"), Keys: []key.Key{records[0].Key}})
	if err != nil {
		t.Fatal(err)
	}
	return append(records, store.Record{Key: last}) // its deletion
}

func open(t *testing.T, dir string) *disk.Store {
	t.Helper()
	s, err := disk.Open(disk.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t *testing.T, s *disk.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// only returns the single file.
func only(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %q, %v", pattern, names, err)
	}
	return names[0]
}

func checkManifest(t *testing.T, dir string, records []store.Record) {
	t.Helper()
	b := []byte(read(t, only(t, filepath.Join(dir, "manifests", "*"))))
	m := layoutOf(t, "A manifest")
	name, note := int(m.number(t, b, "name-size")), int(m.number(t, b, "note-size"))
	body := b[m["keys"].at+m["keys"].size:]
	if string(m.bytes(t, b, "magic")) != "LARDMAN\x01" || m.number(t, b, "checksum") != xxh3.Hash(b[16:]) ||
		m.number(t, b, "pinned") != 1 || m.number(t, b, "keys") != 1 ||
		string(body[:name]) != "/flow.yaml#node" || string(body[name:name+note]) != "note" || key.Key(body[name+note:]) != records[0].Key {
		t.Errorf("the manifest is %q", b)
	}
}

func checkFormat(t *testing.T, dir string) {
	t.Helper()
	line := "larder store, version 2"
	if got, want := read(t, filepath.Join(dir, "FORMAT")), fmt.Sprintf("%s\nchecksum %016x\n", line, xxh3.HashString(line)); got != want {
		t.Errorf("FORMAT is %q, not %q", got, want)
	}
}

// checkIndex finishes the pack as if it were full, opens the store to write the index, and
// reads it.
func checkIndex(t *testing.T, dir, pack string, size int, records []store.Record) {
	t.Helper()
	if err := os.Chmod(pack, 0o444); err != nil {
		t.Fatal(err)
	}
	closed(t, open(t, dir))
	b := []byte(read(t, only(t, filepath.Join(dir, "packs", "*.idx"))))
	x, e := layoutOf(t, "An index"), layoutOf(t, "Entry of an index")
	header := x["entries"].at + x["entries"].size
	entry := e["moves"].at + e["moves"].size
	if string(x.bytes(t, b, "magic")) != "LARDIDX\x01" || x.number(t, b, "checksum") != xxh3.Hash(b[16:]) ||
		x.number(t, b, "covered") != uint64(size) || x.number(t, b, "entries") != uint64(len(records)) || len(b) != header+entry*len(records) {
		t.Fatalf("the index is %q", b)
	}
	at := uint64(0)
	for i, r := range records {
		b := b[header+entry*i:]
		if e.number(t, b, "fingerprint") != xxh3.Hash(r.Key[:]) || 8*e.number(t, b, "offset") != at {
			t.Errorf("entry %d is of another record", i)
		}
		if got, want := e.number(t, b, "read")>>30, []uint64{0, 2, 0, 0, 1}[i]; got != want {
			t.Errorf("entry %d: the upper bits say %d, not %d", i, got, want)
		}
		at += 8 * e.number(t, b, "length")
	}
}

// TestGroupIsAsThePageSays writes small records by one call, and reads their group and its
// index by the page alone.
func TestGroupIsAsThePageSays(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	records := make([]store.Record, 9)
	for i := range records {
		r := &records[i]
		r.Key[0], r.Key[32] = 1, byte(i+1)
		r.Type, r.Cost, r.Created = uint64(i/3), time.Duration(5-i)*time.Second, time.Unix(1_700_000_000, int64(-i))
		r.Payload, r.Provenance = bytes.Repeat([]byte{byte(i)}, i), fmt.Append(nil, "made from ", i*i, " things")
	}
	records[4].Payload, records[4].Link = nil, records[0].Key
	if err := s.Put(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	name := only(t, filepath.Join(dir, "packs", "*.pack"))
	pack := []byte(read(t, name))
	h := layoutOf(t, "Header of a record")
	b := pack[h["moves"].at+h["moves"].size:][:h.number(t, pack, "size")]
	if h.number(t, pack, "kind") != 4 || h.number(t, pack, "type") != uint64(len(records)) || h.number(t, pack, "payload-checksum") != xxh3.Hash(b) {
		t.Fatalf("the group begins %q", pack[:160])
	}
	take := func(n uint64) []byte {
		field := b[:n]
		b = b[n:]
		return field
	}
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		take(uint64(n))
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b)
		take(uint64(n))
		return v
	}
	var typ uint64
	var created, stamp int64
	var provenance []byte
	for i, want := range records {
		k, head, link := key.Key(take(key.Size)), number(), key.Key{}
		if head&1 != 0 {
			link = key.Key(take(key.Size))
		}
		if head&2 != 0 {
			typ = binary.LittleEndian.Uint64(take(8))
		}
		cost := signed()
		created += signed()
		stamp += signed()
		begin, end := number(), number()
		middle := take(number())
		provenance = bytes.Join([][]byte{provenance[:begin], middle, provenance[len(provenance)-int(end):]}, nil)
		payload := take(head >> 2)
		if k != want.Key || link != want.Link || typ != want.Type || cost != int64(want.Cost) || created != want.Created.UnixNano() ||
			uint64(stamp) != h.number(t, pack, "stamp") || !bytes.Equal(provenance, want.Provenance) || !bytes.Equal(payload, want.Payload) {
			t.Errorf("member %d is %s %s %d %d %d %q %q", i, k, link, typ, cost, created, provenance, payload)
		}
	}
	if len(b) > 0 {
		t.Errorf("%d bytes follow the last member", len(b))
	}
	if err := os.Chmod(name, 0o444); err != nil { // then it gets an index
		t.Fatal(err)
	}
	closed(t, open(t, dir))
	index := []byte(read(t, only(t, filepath.Join(dir, "packs", "*.idx"))))
	x, e := layoutOf(t, "An index"), layoutOf(t, "Entry of an index")
	slots := index[x["entries"].at+x["entries"].size:]
	if len(slots) != 120 || x.number(t, index, "entries") != 3 || e.number(t, slots, "fingerprint") != 9 || e.number(t, slots, "read")>>30 != 3 || e.number(t, slots, "blob") != 0 {
		t.Fatalf("the index is %q", index)
	}
	for i, r := range records {
		if fp := binary.LittleEndian.Uint64(slots[40+8*i:]); fp != xxh3.Hash(r.Key[:]) {
			t.Errorf("fingerprint %d is another", i)
		}
	}
}

// TestMergedIndexIsAsThePageSays finds records by the page alone.
func TestMergedIndexIsAsThePageSays(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const n = 20_000
	keys := make([]key.Key, n)
	for i := range keys {
		keys[i] = key.Key(key.DigestOf([]byte(strconv.Itoa(i))))
		if err := s.Put(t.Context(), store.Record{Key: keys[i]}); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	pack := []byte(read(t, only(t, filepath.Join(dir, "packs", "*.pack"))))
	b := []byte(read(t, filepath.Join(dir, "packs.idx")))
	h, p, e := layoutOf(t, "The merged index"), layoutOf(t, "Pack of a merged index"), layoutOf(t, "Entry of a merged index")
	header, onePack, entry := h["bits"].at+h["bits"].size, p["of-pack"].at+p["of-pack"].size, e["checksum"].at+e["checksum"].size
	bits := h.number(t, b, "bits")
	directory := header + onePack
	first := directory + 4*(1<<bits+1)
	covered := p.number(t, b[header:], "covered")
	if string(h.bytes(t, b, "magic")) != "LARDMRG\x01" || h.number(t, b, "checksum") != xxh3.Hash(b[16:first]) ||
		h.number(t, b, "packs") != 1 || covered > uint64(len(pack)) || p.number(t, b[header:], "of-pack") != h.number(t, b, "entries") {
		t.Fatalf("the merged index begins %q", b[:directory])
	}
	head := layoutOf(t, "Header of a record")
	for _, k := range keys[:h.number(t, b, "entries")] {
		fp := xxh3.Hash(k[:])
		at := first + entry*int(binary.LittleEndian.Uint32(b[directory+4*int(fp>>(64-bits)):]))
		for e.number(t, b[at:], "fingerprint") < fp {
			at += entry
		}
		record := 8 * e.number(t, b[at:], "offset")
		if e.number(t, b[at:], "checksum") != xxh3.Hash(b[at:at+20])&(1<<32-1) || e.number(t, b[at:], "pack") != 0 ||
			!bytes.Equal(head.bytes(t, pack[record:], "key"), k[:]) {
			t.Fatalf("the entry of %s is %x", k, b[at:at+entry])
		}
	}
}
