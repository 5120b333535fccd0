//go:build unix

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

func TestDirectorySurvivesCopying(t *testing.T) {
	dir := sample(t)
	for _, path := range files(t, dir) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(dir)) {
			t.Errorf("%s contains the path of the directory", path)
		}
	}
	moved := filepath.Join(t.TempDir(), "elsewhere", "larder")
	if err := os.CopyFS(moved, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s := open(t, small(moved))
	for i := range sampleRecords {
		if err := holds(s, i); err != nil {
			t.Error(err)
		}
	}
	if m, err := s.Manifest(t.Context(), "m"); err != nil || len(m.Keys) != 2 {
		t.Errorf("manifest: %v", err)
	}
}

func TestShortSessionsLeaveFewPacks(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := countPacks(t, dir); n != 1 {
		t.Errorf("%d packs, want 1", n)
	}
}

// TestCollectJoinsSmallPacks checks that Collect joins the many packs of concurrent writers.
func TestCollectJoinsSmallPacks(t *testing.T) {
	dir := t.TempDir()
	var stores []*Store
	for i := range 20 {
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	if n := countPacks(t, dir); n != 20 {
		t.Fatalf("%d packs of 20 writers", n)
	}
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, Options{Dir: dir})
	if _, err := s.Collect(t.Context(), 1<<40); err != nil {
		t.Fatal(err)
	}
	if n := countPacks(t, dir); n != 1 {
		t.Errorf("%d packs after Collect, want 1", n)
	}
	for i := range 20 {
		if err := holds(s, i); err != nil {
			t.Error(err)
		}
	}
}

func TestReaderMakesNoPack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	if _, err := s.Get(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if n := countPacks(t, dir); n != 0 {
		t.Errorf("%d packs before the first Put", n)
	}
}

func TestDirectoryDeletedWhileInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "larder")
	s := open(t, small(dir))
	for i := range 10 {
		if err := s.Put(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for i := 100; i < 110; i++ {
		if err := holds(s, i); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("record %d: %v", i, err)
		}
		if err := s.Put(t.Context(), record(i)); err != nil {
			t.Fatalf("Put after the directory was deleted: %v", err)
		}
		if err := holds(s, i); err != nil {
			t.Error(err)
		}
	}
	other := open(t, small(dir))
	for i := 100; i < 110; i++ {
		if err := holds(other, i); err != nil {
			t.Errorf("another process: %v", err)
		}
	}
}

// TestDeleteByAnotherIsSeen checks that replacements and deletions by another process are soon seen even by hits.
func TestDeleteByAnotherIsSeen(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	if err := a.Put(t.Context(), record(1)); err != nil {
		t.Fatal(err)
	}
	if err := holds(b, 1); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), storetest.Key(1)); err != nil {
		t.Fatal(err)
	}
	a.directory.seen.Store(time.Now().Add(-2 * staleAfter).UnixNano())
	if err := holds(a, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after another deleted it: %v", err)
	}
	if err := a.Put(t.Context(), record(1)); err != nil {
		t.Fatal(err)
	}
	if err := holds(b, 1); err != nil {
		t.Errorf("after it was put again: %v", err)
	}
}

// TestLaterPutWinsAgainstTheClock checks that the later Put wins even if the clock was set back in between.
func TestLaterPutWinsAgainstTheClock(t *testing.T) {
	dir := t.TempDir()
	a := open(t, Options{Dir: dir})
	a.index.saw(time.Now().Add(time.Hour).UnixNano())
	for i, s := range []*Store{a, open(t, Options{Dir: dir})} {
		s.refresh()
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 { // packs are loaded in any order
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), storetest.Key(1))
		if err != nil || got.Payload[0] != 1 {
			t.Errorf("got %v, %v, want the later record", got.Payload, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkReadOnly(t *testing.T, s *Store) {
	t.Helper()
	for i := range sampleRecords {
		if err := holds(s, i); err != nil {
			t.Error(err)
		}
	}
	if err := holds(s, 1000); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a miss: %v", err)
	}
	_, collectErr := s.Collect(t.Context(), 0)
	for what, err := range map[string]error{
		"Put":            s.Put(t.Context(), record(1)),
		"Delete":         s.Delete(t.Context(), storetest.Key(1)),
		"PutManifest":    s.PutManifest(t.Context(), store.Manifest{}),
		"DeleteManifest": s.DeleteManifest(t.Context(), "m"),
		"Collect":        collectErr,
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", what, err)
		}
	}
	for range 2 {
		if _, err := s.Lease(t.Context(), storetest.Key(1)); err != nil { // never released
			t.Errorf("Lease: %v", err)
		}
	}
	if u, err := s.Usage(t.Context()); err != nil || u.Records != sampleRecords {
		t.Errorf("Usage = %+v, %v", u, err)
	}
}

func TestReadOnlyOption(t *testing.T) {
	dir := sample(t)
	before := files(t, dir)
	o := small(dir)
	o.ReadOnly = true
	checkReadOnly(t, open(t, o))
	if after := files(t, dir); len(after) != len(before) {
		t.Errorf("%d files became %d", len(before), len(after))
	}
	o.Dir = filepath.Join(dir, "missing")
	if _, err := Open(o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

// mountTemp mounts a small tmpfs, and reports whether this user may.
func mountTemp(t *testing.T, options string) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "larder-test", dir).CombinedOutput(); err != nil {
		t.Logf("cannot mount, so this is tested another way: %v: %s", err, out)
		return dir, false
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir, true
}

// TestReadOnlyMedium uses a read-only mount where that is allowed, or else a medium that fails like it.
func TestReadOnlyMedium(t *testing.T) {
	from := sample(t)
	dir, mounted := mountTemp(t, "size=10m")
	dir = filepath.Join(dir, "larder")
	copyDir(t, from, dir)
	fail, _ := readOnly.at(t, 1)
	if mounted {
		fail = nil
		if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,ro", filepath.Dir(dir)).CombinedOutput(); err != nil {
			t.Fatalf("remount: %v: %s", err, out)
		}
	}
	s, err := openOn(small(dir), fail)
	if err != nil {
		t.Fatal(err)
	}
	checkReadOnly(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// fillUp puts records of 10 kB until the medium is full.
func fillUp(s *Store) (stored int, err error) {
	for ; ; stored++ {
		if err := s.Put(context.Background(), store.Record{Key: storetest.Key(stored), Payload: storetest.Payload(uint64(stored), 10_000)}); err != nil {
			return stored, err
		}
		if stored > 10_000 {
			return stored, errors.New("the medium does not fill up")
		}
	}
}

func TestFullDisk(t *testing.T) {
	for _, blobBytes := range []int64{1 << 20, 5000} {
		t.Run(fmt.Sprint("blobs from ", blobBytes), func(t *testing.T) {
			dir, mounted := mountTemp(t, "size=1m")
			if !mounted {
				testFileSizeLimit(t)
				return
			}
			s := open(t, Options{Dir: dir, BlobBytes: blobBytes, Logger: quiet})
			stored, err := fillUp(s)
			if !errors.Is(err, store.ErrFull) || stored < 50 {
				t.Fatalf("after %d records: %v, want ErrFull", stored, err)
			}
			// The store continues to serve reads and stores small records. Others report nothing about a record cut
			// short.
			other := open(t, Options{Dir: dir, BlobBytes: blobBytes})
			for i := range stored {
				got, err := s.Get(t.Context(), storetest.Key(i))
				if err != nil || !bytes.Equal(got.Payload, storetest.Payload(uint64(i), 10_000)) {
					t.Errorf("record %d: %v", i, err)
				}
				if _, err := other.Get(t.Context(), storetest.Key(i)); err != nil {
					t.Errorf("another process: record %d: %v", i, err)
				}
			}
			if _, err := other.Get(t.Context(), storetest.Key(stored)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the record cut short: %v", err)
			}
			if err := s.PutManifest(t.Context(), store.Manifest{Name: "m", Note: make([]byte, 100_000)}); !errors.Is(err, store.ErrFull) {
				t.Errorf("PutManifest: %v, want ErrFull", err)
			}
			if blobBytes < 10_000 {
				return // nothing can be evicted without space to record that
			}
			if left := tempsIn(t, dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// testFileSizeLimit has another process exceed a limit of file sizes.
func testFileSizeLimit(t *testing.T) {
	cmd, _ := child(t, t.TempDir(), "fill")
	if err := cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
}

func TestFileSizeLimit(t *testing.T) { testFileSizeLimit(t) }

func TestObstaclesAreMovedAway(t *testing.T) {
	for _, name := range []string{vfs.Packs, vfs.Blobs, vfs.Manifests, vfs.Touches, vfs.Quarantine, vfs.Temps, vfs.Trash} {
		dir := made(t)
		if err := errors.Join(os.Remove(filepath.Join(dir, name)), os.WriteFile(filepath.Join(dir, name), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
		checkUsable(t, name, dir)
	}
	for _, name := range []string{vfs.FormatFile, vfs.LeasesFile, vfs.CollectFile, vfs.ReadmeFile, vfs.TagFile, vfs.Blobs + "/ab"} {
		dir := made(t)
		path := filepath.Join(dir, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, vfs.Blobs) {
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		checkUsable(t, name, dir)
	}
	// Opening a pipe must not block.
	dir := t.TempDir()
	open(t, small(dir))
	for _, path := range []string{vfs.Packs + "/0123456789abcdef.pack", vfs.Touches + "/0123456789abcdef.touch"} {
		if err := syscall.Mkfifo(filepath.Join(dir, path), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	checkUsable(t, "pipes", dir)
}

// made makes an empty store.
func made(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := Open(small(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func checkUsable(t *testing.T, what, dir string) {
	t.Helper()
	s := open(t, small(dir))
	for i := range 300 { // blobs in many directories
		if err := s.Put(t.Context(), record(i)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := holds(s, i); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	release, err := s.Lease(t.Context(), storetest.Key(1))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	release()
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Errorf("%s: Collect: %v", what, err)
	}
}

func TestClosedStore(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Put(t.Context(), record(1)), s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Get(t.Context(), storetest.Key(1))
	_, leaseErr := s.Lease(t.Context(), storetest.Key(1))
	for what, err := range map[string]error{"Get": getErr, "Lease": leaseErr, "Put": s.Put(t.Context(), record(1))} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v, want os.ErrClosed", what, err)
		}
	}
}
