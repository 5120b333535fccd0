//go:build unix

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// putMany puts records in one call.
func putMany(t *testing.T, s *Store, records []store.Record) {
	t.Helper()
	if err := s.Put(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
}

// same compares a record with the one put, except for the time that Put set.
func same(s *Store, want store.Record) error {
	got, err := s.Get(context.Background(), want.Key)
	if err != nil {
		return err
	}
	provenance, err := s.Provenance(context.Background(), want.Key)
	if err != nil {
		return err
	}
	return differs(got, provenance, want)
}

func differs(got store.Record, provenance []byte, want store.Record) error {
	if got.Key != want.Key || got.Link != want.Link || got.Type != want.Type || got.Cost != want.Cost ||
		!bytes.Equal(got.Payload, want.Payload) || !bytes.Equal(provenance, want.Provenance) ||
		!want.Created.IsZero() && !got.Created.Equal(want.Created) {
		return fmt.Errorf("%s: got %+v made from %.40x, want %+v", want.Key, got, provenance, want)
	}
	return nil
}

// groupsIn returns the number of groups in the packs of s, and of records outside groups.
func groupsIn(t *testing.T, s *Store) (groups, others int) {
	t.Helper()
	for _, p := range s.directory.all() {
		found, _, err := s.contents(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range found.Entries {
			switch {
			case !e.IsGroup():
				others++
			case i == 0 || found.Entries[i-1].Off != e.Off:
				groups++
			}
		}
	}
	return groups, others
}

// TestSmallRecordsShareASpace checks that data common to records put together is stored once, and that they are written
// in one call.
func TestSmallRecordsShareASpace(t *testing.T) {
	const n, differ = 1000, 40
	s := open(t, Options{Dir: t.TempDir()})
	records := similarFrom(0, n)
	putMany(t, s, records)
	if groups, others := groupsIn(t, s); groups != 4 || others != 0 {
		t.Errorf("%d records are in %d groups, and %d in none", n, groups, others)
	}
	for i := range records {
		if err := same(s, records[i]); err != nil {
			t.Fatal(err)
		}
	}
	mustPut(t, s, similar(n))
	if groups, others := groupsIn(t, s); groups != 4 || others != 1 {
		t.Errorf("a separate record: %d groups, %d others", groups, others)
	}
	s.writer.mu.Lock()
	err := s.writer.leave(true) // with an index
	s.writer.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	held, err := vfs.TreeSize(s.files.Path(vfs.Packs))
	if err != nil {
		t.Fatal(err)
	}
	if each := held / n; each > 66+key.Size+differ+40 {
		t.Errorf("%d bytes for each record", each)
	}
}

// TestOnlySmallNeighboursAreGrouped checks that a record that is large, or cannot be in a group, separates the records
// around it.
func TestOnlySmallNeighboursAreGrouped(t *testing.T) {
	o := Options{Dir: t.TempDir(), BlobBytes: 100 << 10}
	s := open(t, o)
	records := similarFrom(0, 12)
	records[3].Payload = storetest.Payload(1, format.MaxMemberPayload+1)
	records[5].Payload = storetest.Payload(1, 100<<10) // a blob
	records[7].Provenance = storetest.Payload(1, format.MaxMemberProvenance+1)
	records[8].Payload, records[8].Link = nil, storetest.Key(0)
	records[10].Key = records[9].Key // the later one counts
	putMany(t, s, records)
	// 0 1 2, 8 9 and 10 11 are groups; 3, 5 and 7 are large, 4 and 6 alone.
	if groups, others := groupsIn(t, s); groups != 3 || others != 5 {
		t.Errorf("%d groups, %d others", groups, others)
	}
	for _, s := range []*Store{s, open(t, o)} {
		for i := range records {
			if err := same(s, records[i]); err != nil && i != 9 {
				t.Error(err)
			}
		}
	}
}

// TestPayloadOfAMemberIsItsOwn checks that holding one result of a group holds no others in memory.
func TestPayloadOfAMemberIsItsOwn(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	records := similarFrom(0, 100)
	putMany(t, s, records)
	got, err := s.Get(t.Context(), records[50].Key)
	if err != nil || cap(got.Payload) > 2*len(records[50].Payload) {
		t.Errorf("%d bytes keep %d, %v", len(got.Payload), cap(got.Payload), err)
	}
	keys := make([]key.Key, len(records))
	for i := range records {
		keys[i] = records[i].Key
	}
	many, err := s.GetMany(t.Context(), keys)
	for i := range many {
		if p := many[i].Payload; err != nil || cap(p) != len(p) || !bytes.Equal(p, records[i].Payload) {
			t.Fatalf("record %d: %d bytes of %d, %v", i, len(p), cap(p), err)
		}
	}
}

// TestWriteOfGroupsMayEndAnywhere checks that a pack cut anywhere within a Put has the groups before, and that its next
// writer continues after them.
func TestWriteOfGroupsMayEndAnywhere(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	records := similarFrom(0, 2*format.MaxMembers+10)
	putMany(t, s, records)
	entries := s.writer.entries
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := onlyPack(t, dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range testrand.Some(t, len(whole)/977+1, 8) {
		size := 977 * i
		if err := os.WriteFile(path, whole[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s := open(t, Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		stored, want := len(s.stored()), 0
		for want < len(entries) && entries[want].Offset()+entries[want].Bytes() <= int64(size) {
			want++
		}
		if stored != want {
			t.Fatalf("%d records in %d of %d bytes, want %d", stored, size, len(whole), want)
		}
		putMany(t, s, records[stored:])
		for i := range records {
			if err := same(s, records[i]); err != nil {
				t.Fatalf("after %d bytes, record %d: %v", size, i, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if log.Len() > 0 {
			t.Fatalf("after %d bytes: %s", size, log.String())
		}
	}
}

// onlyPack returns the path of the only pack.
func onlyPack(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, vfs.Packs, "*"+packSuffix))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	return paths[0]
}

// TestDamagedGroupCostsItsMembers checks that any changed byte of a group loses its members and no others. That is
// reported once, with or without an index.
func TestDamagedGroupCostsItsMembers(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, Options{Dir: dir})
		records := similarFrom(0, 30)
		for from := 0; from < 30; from += 10 {
			putMany(t, s, records[from:from+10])
		}
		at := s.writer.entries[10].Offset()
		next := s.writer.entries[20].Offset()
		s.writer.mu.Lock()
		if err := s.writer.leave(indexed); err != nil {
			t.Fatal(err)
		}
		s.writer.mu.Unlock()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		path := onlyPack(t, dir)
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		padding := int64(0)
		for sound[next-1-padding] == 0 { // of the last payload; none ends with 0
			padding++
		}
		for i := at; i < next-padding; i += 7 {
			b := bytes.Clone(sound)
			b[i] ^= 1 << (i % 8)
			if err := errors.Join(os.Chmod(path, 0o666), os.WriteFile(path, b, 0o666)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			s := open(t, Options{Dir: dir, ReadOnly: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			keys := make([]key.Key, len(records))
			for j, r := range records {
				keys[j] = r.Key
				err := same(s, r)
				if hit := j/10 == 1; hit != errors.Is(err, store.ErrNotFound) || !hit && err != nil {
					t.Fatalf("indexed %v, byte %d: record %d: %v", indexed, i-at, j, err)
				}
			}
			many, err := s.GetMany(t.Context(), keys)
			for j := range many {
				if err != nil || many[j].Key.IsZero() != (j/10 == 1) {
					t.Fatalf("byte %d: record %d of many: %v", i-at, j, err)
				}
			}
			if n := strings.Count(log.String(), "damaged record"); n != 1 {
				t.Fatalf("byte %d: %d warnings: %s", i-at, n, log.String())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestMembersAreWorthWhatTheyCost checks that the cheap members of a group are evicted, and the others move together.
func TestMembersAreWorthWhatTheyCost(t *testing.T) {
	const n = 4 * format.MaxMembers
	s := open(t, Options{Dir: t.TempDir(), MaxBytes: -1})
	records := similarFrom(0, n)
	for i := range records {
		records[i].Cost = time.Millisecond
		if i%4 == 0 {
			records[i].Cost = time.Minute
		}
	}
	putMany(t, s, records)
	u, err := s.Usage(t.Context())
	if err != nil || u.Records != n {
		t.Fatalf("%d records, %v", u.Records, err)
	}
	limit := u.Bytes / 2
	if _, err := s.Collect(t.Context(), limit); err != nil {
		t.Fatal(err)
	}
	if u, err = s.Usage(t.Context()); err != nil || u.Bytes > limit || u.Bytes < limit*9/10 || u.Records < n*4/10 {
		t.Errorf("%d bytes and %d records are left of %d, %v", u.Bytes, u.Records, limit, err)
	}
	for i := 0; i < n; i += 4 {
		if err := same(s, records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if groups, others := groupsIn(t, s); groups > n/2/format.MaxMembers+1 || others > 1 {
		t.Errorf("%d groups and %d others: they do not move together", groups, others)
	}
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if u, err = s.Usage(t.Context()); err != nil || u.Records != 0 || u.Bytes > 100 {
		t.Errorf("%d bytes and %d records are left, %v", u.Bytes, u.Records, err)
	}
}

// TestLimitHoldsWhereGroupsSwell checks members that share data only through others, and take more space when these are
// evicted.
func TestLimitHoldsWhereGroupsSwell(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), MaxBytes: -1})
	begin, end, middle := storetest.Payload(1, 500), storetest.Payload(2, 500), storetest.Payload(3, 2000)
	records := similarFrom(0, 1000)
	for i := range records {
		r := &records[i]
		a, b := slices.Clone(begin), slices.Clone(end)
		a[0], b[499] = byte((i+1)/4), byte((i+3)/4) // each two neighbours share one of them
		r.Provenance, r.Cost = slices.Concat(a, middle, b), time.Millisecond
		if i%4 == 0 { // these share neither
			r.Cost = time.Minute
		}
	}
	putMany(t, s, records)
	u, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	limit := u.Bytes * 2 / 3
	if _, err := s.Collect(t.Context(), limit); err != nil {
		t.Fatal(err)
	}
	if u, err = s.Usage(t.Context()); err != nil || u.Bytes > limit || u.Records == 0 {
		t.Errorf("%d bytes and %d records are left of %d, %v", u.Bytes, u.Records, limit, err)
	}
}

// TestOlderFormatIsRaised checks that a directory of the version before groups is read. Programs of that version refuse
// it once it may have a group.
func TestOlderFormatIsRaised(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	mustPut(t, s, record(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, vfs.FormatFile)
	for _, readOnly := range []bool{true, false} {
		if err := os.WriteFile(path, []byte(format.VersionText(1)), 0o666); err != nil {
			t.Fatal(err)
		}
		s := open(t, Options{Dir: dir, ReadOnly: readOnly})
		if err := holds(s, 1); err != nil {
			t.Error(err)
		}
		want := format.VersionText(2)
		if readOnly {
			want = format.VersionText(1)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("read-only %v: FORMAT is %q, %v", readOnly, got, err)
		}
	}
}

// TestGroupsAgreeWithAModel runs random batches, deletions, evictions, merges and reopenings, with and without indexes.
// Reads return the latest record, and hold no more memory than requested.
func TestGroupsAgreeWithAModel(t *testing.T) {
	testrand.Long(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := &groupModel{o: Options{Dir: t.TempDir(), PackBytes: 40 << 10, BlobBytes: 64 << 10, MaxBytes: -1, Logger: quiet}}
		m.want = make(map[key.Key]store.Record)
		m.reopen(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"put":     m.put,
			"delete":  m.delete,
			"collect": m.collect,
			"merge":   func(*rapid.T) { mergeNow(m.s) },
			"reopen":  m.reopen,
		})
		if err := m.s.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

type groupModel struct {
	o    Options
	s    *Store
	want map[key.Key]store.Record
	puts int
}

var someKeys = rapid.SliceOfN(rapid.IntRange(0, 59), 1, 50)

func (m *groupModel) put(rt *rapid.T) {
	var records []store.Record
	alike := rapid.IntRange(0, 3).Draw(rt, "alike")
	for i, n := range someKeys.Draw(rt, "keys") {
		m.puts++
		r := store.Record{Key: storetest.Key(n), Type: uint64(i / 5), Cost: time.Duration(m.puts%7-1) * time.Second}
		if i%2 == 0 {
			r.Created = time.Unix(int64(m.puts), 5)
		}
		switch size := rapid.SampledFrom([]int{-1, 0, 1, 30, 300, 3000, 5000, 9000}).Draw(rt, "size"); size {
		case -1:
			r.Link = storetest.Key(1000 + n)
		default:
			r.Payload = storetest.Payload(uint64(m.puts), size)
		}
		r.Provenance = storetest.Payload(1, 100*alike)
		if len(r.Provenance) > 0 {
			r.Provenance[m.puts*13%len(r.Provenance)]++
			r.Provenance = r.Provenance[:len(r.Provenance)-m.puts%3]
		}
		records = append(records, r)
		m.want[r.Key] = r
	}
	if err := m.s.Put(rt.Context(), records...); err != nil {
		rt.Fatal(err)
	}
}

func (m *groupModel) delete(rt *rapid.T) {
	var keys []key.Key
	for _, n := range someKeys.Draw(rt, "keys") {
		keys = append(keys, storetest.Key(n))
		delete(m.want, storetest.Key(n))
	}
	if err := m.s.Delete(rt.Context(), keys...); err != nil {
		rt.Fatal(err)
	}
}

func (m *groupModel) collect(rt *rapid.T) {
	limit := rapid.SampledFrom([]int64{0, 10_000, 30_000, 100_000, 1 << 40}).Draw(rt, "limit")
	if _, err := m.s.Collect(rt.Context(), limit); err != nil {
		rt.Fatal(err)
	}
	u, err := m.s.Usage(rt.Context())
	// Tombstones hide older records in other packs.
	deleted := int64(len(m.s.index.all(format.Place.IsTombstone)))
	if held := u.Bytes - deleted*(format.HeaderSize+format.EntrySize+format.MergedCost); err != nil || held > limit+1000 {
		rt.Fatalf("%d bytes of %d are left, %v", held, limit, err)
	}
	left := make(map[key.Key]bool)
	for info, err := range m.s.Records(rt.Context()) {
		if err != nil {
			rt.Fatal(err)
		}
		left[info.Key] = true
	}
	if limit == 1<<40 && len(left) != len(m.want) {
		rt.Fatalf("Collect without need left %d of %d", len(left), len(m.want))
	}
	maps.DeleteFunc(m.want, func(k key.Key, _ store.Record) bool { return !left[k] })
}

func (m *groupModel) reopen(rt *rapid.T) {
	if m.s != nil {
		if err := m.s.Close(); err != nil {
			rt.Fatal(err)
		}
		for _, name := range []string{mergedFile, vfs.Packs + "/*" + indexSuffix} {
			if rapid.Bool().Draw(rt, "without "+name) {
				paths, err := filepath.Glob(filepath.Join(m.o.Dir, name))
				for _, path := range paths {
					err = errors.Join(err, os.Remove(path))
				}
				if err != nil {
					rt.Fatal(err)
				}
			}
		}
	}
	s, err := Open(m.o)
	if err != nil {
		rt.Fatal(err)
	}
	m.s = s
}

func (m *groupModel) check(rt *rapid.T) {
	keys := make([]key.Key, 60)
	for i := range keys {
		keys[i] = storetest.Key(i)
	}
	many, err := m.s.GetMany(rt.Context(), keys)
	if err != nil {
		rt.Fatal(err)
	}
	for i, k := range keys {
		want, stored := m.want[k]
		if !stored {
			if !many[i].Key.IsZero() {
				rt.Fatalf("record %d was deleted, and is there", i)
			}
			continue
		}
		provenance, err := m.s.Provenance(rt.Context(), k)
		if err = errors.Join(err, differs(many[i], provenance, want)); err != nil {
			rt.Fatalf("record %d: %v", i, err)
		}
	}
	if n := len(m.s.stored()); n != len(m.want) {
		rt.Fatalf("%d records are listed, want %d", n, len(m.want))
	}
	if aside, err := os.ReadDir(filepath.Join(m.o.Dir, vfs.Quarantine)); err != nil || len(aside) > 0 {
		rt.Fatalf("set aside: %v, %v", aside, err)
	}
}
