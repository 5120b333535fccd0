//go:build unix

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// A fault is a way in which a medium fails, once or from one operation on.
type fault struct {
	name string
	err  error
	once bool
	of   func(vfs.Op) bool // the operations that fail
}

var (
	flicker = fault{"an error of the medium", syscall.EIO, true, func(vfs.Op) bool { return true }}
	full    = fault{"a full disk", syscall.ENOSPC, false, func(op vfs.Op) bool {
		return op == vfs.OpCreate || op == vfs.OpWrite || op == vfs.OpMkdir
	}}
	readOnly = fault{"a medium that was made read-only", syscall.EROFS, false, func(op vfs.Op) bool {
		switch op {
		case vfs.OpOpen, vfs.OpRead, vfs.OpStat, vfs.OpList, vfs.OpLock:
			return false
		}
		return true
	}}
)

// at returns a function that fails operation n, if it is above 0, and the count of all operations.
func (f fault) at(t *testing.T, n int64) (fail vfs.Fail, count *atomic.Int64) {
	count = new(atomic.Int64)
	return func(op vfs.Op, path string) error {
		i := count.Add(1)
		if i == n {
			t.Logf("operation %d: %s %s", i, op, path)
		}
		if n == 0 || i < n || i > n && f.once || !f.of(op) {
			return nil
		}
		return f.err
	}, count
}

// A session holds the operations on a store with a failing medium, and the records that must exist afterwards.
type session struct {
	t    *testing.T
	s    *Store
	want map[key.Key][]store.Record // records that a key may have; an empty one means none
}

func (c *session) put(records ...store.Record) {
	err := c.s.Put(c.t.Context(), records...)
	for _, r := range records {
		c.settle(r.Key, r, err)
	}
}

func (c *session) delete(keys ...key.Key) {
	err := c.s.Delete(c.t.Context(), keys...)
	for _, k := range keys {
		c.settle(k, store.Record{}, err)
	}
}

// settle notes that a key has r, or may have it after an error.
func (c *session) settle(k key.Key, r store.Record, err error) {
	switch {
	case err == nil:
		c.want[k] = []store.Record{r}
	case c.want[k] == nil:
		c.want[k] = []store.Record{{}, r}
	default:
		c.want[k] = append(c.want[k], r)
	}
}

// check compares s with the expected records. If the medium fails, a record may be missing, but not replaced by another
// one.
func (c *session) check(s *Store, fails bool) error {
	for k, may := range c.want {
		got, err := s.Get(c.t.Context(), k)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			if !fails {
				return err
			}
			continue
		}
		ok := fails && err != nil
		for _, r := range may {
			ok = ok || err != nil && r.Key.IsZero() || err == nil && bytes.Equal(got.Payload, r.Payload) && got.Link == r.Link
		}
		if !ok {
			return fmt.Errorf("record %s gives %d bytes, %w", k, len(got.Payload), err)
		}
	}
	return nil
}

// run performs all operations on a store.
func (c *session) run(o Options, fail vfs.Fail) (err error) {
	c.s, err = openOn(o, fail)
	if err != nil {
		return nil // nothing was done
	}
	for i := range 4 {
		r := record(i)
		r.Payload = append(r.Payload, "again"...)
		c.put(r)
	}
	c.put(recordsFrom(100, 10)...)
	c.put(store.Record{Key: storetest.Key(200), Payload: storetest.Payload(200, 10_000)}, store.Record{Key: storetest.Key(201), Link: storetest.Key(1)})
	_ = c.s.PutManifest(c.t.Context(), store.Manifest{Name: "other", Keys: []key.Key{storetest.Key(1)}})
	err = c.check(c.s, true)
	c.delete(storetest.Key(5), storetest.Key(6), storetest.Key(7), storetest.Key(20), storetest.Key(21))
	mergeNow(c.s)
	_, _ = c.s.Collect(c.t.Context(), 1<<40)
	err = errors.Join(err, c.check(c.s, true))
	if m, merr := c.s.Manifest(c.t.Context(), "m"); merr == nil && m.Name != "m" {
		err = errors.Join(err, errors.New("another manifest"))
	}
	_ = c.s.Close()
	return err
}

// TestWhereverTheMediumFails makes each file operation fail in turn, in each way. Settled records must exist when the
// medium works again, returned records are right, and the store continues.
func TestWhereverTheMediumFails(t *testing.T) {
	testrand.Long(t)
	from := sample(t)
	for _, f := range []fault{flicker, full, readOnly} {
		t.Run(f.name, func(t *testing.T) {
			fail, count := f.at(t, 0)
			tryFault(t, from, "no fault", fail)
			t.Logf("%d operations", count.Load())
			every := int64(testrand.Rounds(25, 4)) // all of them take minutes
			for n := testrand.New(t).Int64N(every); n < count.Load(); n += every {
				fail, _ := f.at(t, n+1)
				tryFault(t, from, fmt.Sprint("operation ", n+1), fail)
			}
		})
	}
}

func tryFault(t *testing.T, from, what string, fail vfs.Fail) {
	t.Helper()
	o := small(t.TempDir())
	o.MaxBytes, o.Sync = -1, true
	copyDir(t, from, o.Dir)
	c := &session{t: t, want: make(map[key.Key][]store.Record)}
	for i := range sampleRecords {
		c.want[storetest.Key(i)] = []store.Record{record(i)}
	}
	if err := c.run(o, fail); err != nil {
		t.Errorf("%s: during the fault: %v", what, err)
	}
	s, err := Open(o)
	if err != nil {
		t.Errorf("%s: afterwards: %v", what, err)
		return
	}
	if err := c.check(s, false); err != nil {
		t.Errorf("%s: afterwards: %v", what, err)
	}
	if m, err := s.Manifest(t.Context(), "m"); err != nil || len(m.Keys) != len(sampleManifest.Keys) {
		t.Errorf("%s: afterwards: manifest %+v, %v", what, m, err)
	}
	c = &session{t: t, s: s, want: make(map[key.Key][]store.Record)}
	c.put(recordsFrom(0, sampleRecords)...)
	if err := c.check(s, false); err != nil {
		t.Errorf("%s: put again: %v", what, err)
	}
	if _, err := s.Collect(t.Context(), 1<<40); err != nil {
		t.Errorf("%s: Collect: %v", what, err)
	}
	if err := c.check(s, false); err != nil {
		t.Errorf("%s: collected: %v", what, err)
	}
	if left := tempsIn(t, o.Dir); len(left) > 0 {
		t.Errorf("%s: left behind: %v", what, left)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: Close: %v", what, err)
	}
}

// A flaky medium fails where a test says so.
type flaky struct {
	fails func(op vfs.Op, path string) bool
}

func (f *flaky) fail(op vfs.Op, path string) error {
	if f.fails != nil && f.fails(op, path) {
		return syscall.EIO
	}
	return nil
}

func openFlaky(t *testing.T, o Options) (*Store, *flaky) {
	t.Helper()
	f := new(flaky)
	s, err := openOn(o, f.fail)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s, f
}

func readOfPack(op vfs.Op, path string) bool {
	return op == vfs.OpRead && filepath.Ext(path) == packSuffix
}

// TestUnreadRecordIsThereLater checks that a record is missing only as long as the medium fails to read it.
func TestUnreadRecordIsThereLater(t *testing.T) {
	o := small(t.TempDir())
	s, f := openFlaky(t, o)
	mustPut(t, s, record(1), record(2))
	mergeNow(s)
	f.fails = readOfPack
	if err := holds(s, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record that is not read: %v", err)
	}
	f.fails = nil
	if err := holds(s, 1); err != nil {
		t.Errorf("when it is read again: %v", err)
	}
	if err := s.Delete(t.Context(), storetest.Key(2)); err != nil {
		t.Fatal(err)
	}
	mergeNow(s)
	other := open(t, o)
	if err := errors.Join(holds(other, 1), s.Close()); err != nil {
		t.Error(err)
	}
	if err := holds(other, 2); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the deleted record: %v", err)
	}
}

// TestCollectLosesNothingUnread makes each read of a pack fail in turn during its rewrite. Stored records stay, and
// deleted or replaced ones do not come back.
func TestCollectLosesNothingUnread(t *testing.T) {
	failed := true
	for n := 1; failed; n++ {
		o := small(t.TempDir())
		s, f := openFlaky(t, o)
		for i := range 10 {
			mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 1000)})
		}
		if err := s.Delete(t.Context(), storetest.Key(0), storetest.Key(3), storetest.Key(4), storetest.Key(5), storetest.Key(8)); err != nil {
			t.Fatal(err)
		}
		reads := 0
		f.fails = func(op vfs.Op, path string) bool {
			if readOfPack(op, path) {
				reads++
			}
			return reads == n && readOfPack(op, path)
		}
		_, _ = s.Collect(t.Context(), 1<<40)
		f.fails, failed = nil, reads >= n
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
		for i, gone := range []bool{true, false, false, true, true, true, false, false, true, false} {
			got, err := s.Get(t.Context(), storetest.Key(i))
			if gone != errors.Is(err, store.ErrNotFound) || !gone && !bytes.Equal(got.Payload, storetest.Payload(uint64(i), 1000)) {
				t.Errorf("read %d: record %d gives %d bytes, %v", n, i, len(got.Payload), err)
			}
		}
	}
}

// TestUnseenDirectoryStays checks that a directory of the store that is missing for a moment is not treated as an obstacle.
func TestUnseenDirectoryStays(t *testing.T) {
	for _, name := range []string{vfs.Packs, vfs.Blobs, vfs.Manifests} {
		dir := sample(t)
		once := true
		s, err := openOn(small(dir), func(op vfs.Op, path string) error {
			if op == vfs.OpStat && filepath.Base(path) == name && once {
				once = false
				return syscall.EIO
			}
			return nil
		})
		if err == nil {
			err = s.Close()
		}
		t.Logf("%s: %v", name, err)
		s = open(t, small(dir))
		for i := range sampleRecords {
			if err := holds(s, i); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if _, err := s.Manifest(t.Context(), "m"); once || err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFailedOpenLeavesNothing checks that a store that cannot be opened leaves no open file and no lock.
func TestFailedOpenLeavesNothing(t *testing.T) {
	o := small(t.TempDir())
	_, err := openOn(o, func(op vfs.Op, path string) error {
		if op == vfs.OpRemove && filepath.Base(filepath.Dir(path)) == vfs.Temps && filepath.Ext(path) != ".lock" {
			return syscall.EIO
		}
		return nil
	})
	if !errors.Is(err, syscall.EIO) {
		t.Fatalf("Open: %v", err)
	}
	open(t, o)
	if left := tempsIn(t, o.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
