package inventory_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// whole is a record with everything that a stream carries.
type whole struct {
	Link                key.Key
	Type                uint64
	Cost                time.Duration
	Created             int64
	Payload, Provenance string
}

// contents returns all records of a store.
func contents(t testing.TB, s store.Store) map[key.Key]whole {
	t.Helper()
	all := map[key.Key]whole{}
	for info, err := range s.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Get(t.Context(), info.Key)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Provenance(t.Context(), info.Key)
		if err != nil {
			t.Fatal(err)
		}
		all[r.Key] = whole{r.Link, r.Type, r.Cost, r.Created.UnixNano(), string(r.Payload), string(p)}
	}
	return all
}

func export(t testing.TB, s store.Store, names ...string) ([]byte, inventory.Exported) {
	t.Helper()
	sel, err := inventory.Select(t.Context(), s, names...)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	n, err := inventory.Export(t.Context(), s, sel, &b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), n
}

func TestExportImport(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		first, linked := filled(t, s)
		large := record(t, "large", 0, strings.Repeat("x", 3<<20))
		put(t, s, large)
		want := contents(t, s)
		for k, r := range want {
			if r.Type == records.FileDigest {
				delete(want, k)
			}
		}
		stream, n := export(t, s)
		if n != (inventory.Exported{Records: 7, Links: 1, Bytes: 29 + 3<<20, FileDigests: 1}) {
			t.Errorf("exported %+v", n)
		}
		onStores(t, func(t *testing.T, to store.Store) {
			in, err := inventory.Import(t.Context(), to, iotest.OneByteReader(bytes.NewReader(stream[:100])))
			if !errors.Is(err, inventory.ErrDamaged) || in.Records != 0 {
				t.Errorf("%+v, %v", in, err)
			}
			in, err = inventory.Import(t.Context(), to, bytes.NewReader(stream))
			if err != nil || in != (inventory.Imported{Records: 7, Bytes: n.Bytes}) {
				t.Errorf("imported %+v, %v", in, err)
			}
			if diff := cmp.Diff(want, contents(t, to)); diff != "" {
				t.Error(diff)
			}
			in, err = inventory.Import(t.Context(), to, bytes.NewReader(stream))
			if err != nil || in != (inventory.Imported{Present: 7}) {
				t.Errorf("imported again: %+v, %v", in, err)
			}
		})
		t.Run("link with its target", func(t *testing.T) {
			stream, n := export(t, s, linked.Key.String())
			if n.Records != 2 || n.Links != 1 {
				t.Errorf("exported %+v", n)
			}
			to := memory.New(memory.Options{})
			if _, err := inventory.Import(t.Context(), to, bytes.NewReader(stream)); err != nil {
				t.Fatal(err)
			}
			if got := contents(t, to); len(got) != 2 || got[linked.Key].Link != first.Key {
				t.Errorf("%v", got)
			}
		})
		t.Run("link without target", func(t *testing.T) {
			if err := s.Delete(t.Context(), first.Key); err != nil {
				t.Fatal(err)
			}
			if _, n := export(t, s, linked.Key.String()); n.Records != 0 || n.Lost != 1 {
				t.Errorf("exported %+v", n)
			}
		})
	})
}

// TestImportKeepsWhatIsThere checks that an import replaces no record, whatever the stream
// has.
func TestImportKeepsWhatIsThere(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		r := record(t, "add", 0, "theirs")
		put(t, s, r)
		stream, _ := export(t, s)
		r.Payload = []byte("ours")
		put(t, s, r)
		if in, err := inventory.Import(t.Context(), s, bytes.NewReader(stream)); err != nil || in.Present != 1 {
			t.Errorf("%+v, %v", in, err)
		}
		if got := contents(t, s)[r.Key].Payload; got != "ours" {
			t.Errorf("the record holds %q", got)
		}
	})
}

// TestLinksInACircle checks that an export ends.
func TestLinksInACircle(t *testing.T) {
	s := memory.New(memory.Options{})
	a, b := link(t, "a", 0, key.Key{}), link(t, "b", 0, key.Key{})
	a.Link, b.Link = b.Key, a.Key
	put(t, s, a, b)
	if _, n := export(t, s); n.Records != 0 || n.Lost != 2 {
		t.Errorf("%+v", n)
	}
}

// TestStreamStaysTheSame builds a stream from the documentation of the package. A change
// here needs another version.
func TestStreamStaysTheSame(t *testing.T) {
	s := memory.New(memory.Options{})
	r := store.Record{Key: key.Key{1, 2, 3}, Type: 4, Cost: 5, Created: time.Unix(0, 6), Provenance: []byte("why"), Payload: []byte("what")}
	put(t, s, r)
	le := binary.LittleEndian
	head := append([]byte{'R'}, r.Key[:]...)
	head = append(head, make([]byte, 33)...)
	for _, n := range []uint64{4, 5, 6, 3, 4} {
		head = le.AppendUint64(head, n)
	}
	sum := sha256.Sum256(head)
	body := sha256.Sum256(append(sum[:], "whywhat"...))
	mark := le.AppendUint64(le.AppendUint64([]byte{'E'}, 1), 4)
	end := sha256.Sum256(mark)
	want := bytes.Join([][]byte{[]byte("LARDEXP\x01"), head, sum[:], []byte("whywhat"), body[:], mark, end[:]}, nil)
	if got, _ := export(t, s); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", hex.Dump(got), hex.Dump(want))
	}
}

// TestDamagedStream flips and cuts every byte. Records before the damage are imported,
// wrong ones never, and the damage is reported.
func TestDamagedStream(t *testing.T) {
	s := memory.New(memory.Options{})
	for i := range 3 {
		put(t, s, record(t, "add", i, fmt.Sprint("value ", i)))
	}
	want := contents(t, s)
	stream, _ := export(t, s)
	frame := (len(stream) - 8 - 49) / 3
	check := func(what string, at int, damaged []byte) {
		to := memory.New(memory.Options{})
		in, err := inventory.Import(t.Context(), to, bytes.NewReader(damaged))
		if err == nil {
			t.Errorf("%s at %d was not seen", what, at)
		}
		if before := min((at-8)/frame, 3); at >= 8 && in.Records != int64(before) {
			t.Errorf("%s at %d: %d records were stored of %d before it", what, at, in.Records, before)
		}
		for k, r := range contents(t, to) {
			if r != want[k] {
				t.Errorf("%s at %d: a record is %+v", what, at, r)
			}
		}
	}
	for at := range stream {
		for _, flip := range []byte{1, 0x80} {
			b := bytes.Clone(stream)
			b[at] ^= flip
			check("a flip", at, b)
		}
		check("a cut", at, stream[:at])
	}
	check("more", len(stream), append(bytes.Clone(stream), 0))
	check("a lost record", 8+2*frame, append(bytes.Clone(stream[:8]), stream[8+frame:]...))
}

// TestNewerStream checks that the error names the newer version.
func TestNewerStream(t *testing.T) {
	_, err := inventory.Import(t.Context(), memory.New(memory.Options{}), strings.NewReader("LARDEXP\x02..."))
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("%v", err)
	}
}

// TestClaimedLength checks that allocations follow the actual length, not the claimed one.
func TestClaimedLength(t *testing.T) {
	for _, claim := range []uint64{16 << 30, 16<<30 + 1, 1 << 62, 1<<64 - 1} {
		stream := claiming(claim)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := inventory.Import(t.Context(), memory.New(memory.Options{}), bytes.NewReader(stream)); !errors.Is(err, inventory.ErrDamaged) {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 4<<20 {
			t.Errorf("%d bytes were allocated for a record that claims %d and has none", allocated, claim)
		}
	}
}

// claiming returns a stream with only a valid header of a record of n bytes.
func claiming(payload uint64) []byte {
	head := append([]byte{'R', 1, 1}, make([]byte, 31+33+4*8)...)
	head = binary.LittleEndian.AppendUint64(head, payload)
	sum := sha256.Sum256(head)
	return append(append([]byte("LARDEXP\x01"), head...), sum[:]...)
}

// TestExportImportLaw checks that an import equals its export.
func TestExportImportLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from, to := memory.New(memory.Options{}), memory.New(memory.Options{})
		var keys []key.Key
		for i := range rapid.IntRange(0, 12).Draw(rt, "records") {
			r := store.Record{
				Key:        key.Key{1, byte(i), 1},
				Type:       rapid.Uint64().Filter(func(n uint64) bool { return n != records.FileDigest }).Draw(rt, "type"),
				Cost:       time.Duration(rapid.Int64Min(0).Draw(rt, "cost")),
				Created:    time.Unix(0, rapid.Int64().Draw(rt, "created")),
				Provenance: rapid.SliceOf(rapid.Byte()).Draw(rt, "provenance"),
			}
			if len(keys) > 0 && rapid.Bool().Draw(rt, "link") {
				r.Link = rapid.SampledFrom(keys).Draw(rt, "to")
			} else {
				r.Payload = rapid.SliceOf(rapid.Byte()).Draw(rt, "payload")
			}
			put(t, from, r)
			keys = append(keys, r.Key)
		}
		stream, n := export(t, from)
		in, err := inventory.Import(t.Context(), to, iotest.HalfReader(bytes.NewReader(stream)))
		if err != nil || in.Records != n.Records || in.Bytes != n.Bytes || n.Records != int64(len(keys)) {
			rt.Fatalf("%+v, %+v, %v", n, in, err)
		}
		if diff := cmp.Diff(contents(t, from), contents(t, to)); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// TestFailingReaderAndWriter checks that a failure of I/O does not count as damage.
func TestFailingReaderAndWriter(t *testing.T) {
	s := memory.New(memory.Options{})
	put(t, s, record(t, "add", 0, "zero"))
	stream, _ := export(t, s)
	broken := errors.New("broken")
	for n := range stream {
		r := io.MultiReader(bytes.NewReader(stream[:n]), iotest.ErrReader(broken))
		if _, err := inventory.Import(t.Context(), s, r); !errors.Is(err, broken) || errors.Is(err, inventory.ErrDamaged) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		if _, err := inventory.Export(t.Context(), s, inventory.Selection{}, &shortWriter{n, broken}); !errors.Is(err, broken) {
			t.Errorf("writing stopped after %d bytes: %v", n, err)
		}
	}
}

type shortWriter struct {
	left int
	err  error
}

func (w *shortWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		return w.left, w.err
	}
	w.left -= len(b)
	return len(b), nil
}

func FuzzImport(f *testing.F) {
	s := memory.New(memory.Options{})
	first, linked := filled(f, s)
	stream, _ := export(f, s)
	f.Add(stream)
	f.Add(stream[:len(stream)-1])
	f.Add([]byte("LARDEXP\x01"))
	f.Add(claiming(1 << 40))
	alone, _ := export(f, s, linked.Key.String())
	f.Add(alone)
	alone, _ = export(f, s, first.Key.String())
	f.Add(alone)
	f.Fuzz(func(t *testing.T, b []byte) {
		to := memory.New(memory.Options{MaxBytes: -1})
		in, err := inventory.Import(t.Context(), to, bytes.NewReader(b))
		if err != nil && !errors.Is(err, inventory.ErrDamaged) && !strings.Contains(err.Error(), "version") {
			t.Fatalf("neither sound nor damaged: %v", err)
		}
		if got := contents(t, to); int64(len(got)) != in.Records {
			t.Errorf("%d records are stored, %d were said to be", len(got), in.Records)
		}
	})
}
