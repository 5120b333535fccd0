//go:build unix

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// lengthen extends a file with a hole, or reports why it cannot.
func lengthen(t *testing.T, path string, size int64) {
	t.Helper()
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode()
	}
	err := errors.Join(os.Chmod(path, 0o644), os.Truncate(path, size), os.Chmod(path, mode))
	if errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("this file system has no files of 2^%d bytes: %v", logOf(size), err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func logOf(size int64) (n int) {
	for ; size > 1; size /= 2 {
		n++
	}
	return n
}

// counted opens a store, and counts the bytes that it reads.
func counted(t *testing.T, o Options, fail vfs.Fail) (*Store, *atomic.Int64) {
	t.Helper()
	n := new(atomic.Int64)
	s, err := openDir(o, &vfs.Directory{Fail: fail, Bytes: func(more int) { n.Add(int64(more)) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, n
}

// reportsNoHoles is a system that does not report holes in files.
func reportsNoHoles(op vfs.Op, _ string) error {
	if op == vfs.OpSeek {
		return errors.ErrUnsupported
	}
	return nil
}

// wantAll reads all records of sample, and puts and reads another one.
func wantAll(t *testing.T, s *Store, put bool) {
	t.Helper()
	for i := range sampleRecords {
		if err := holds(s, i); err != nil {
			t.Error(err)
		}
	}
	if put {
		mustPut(t, s, record(1000))
		if err := holds(s, 1000); err != nil {
			t.Error(err)
		}
	}
}

// few exceeds the bytes of the files of sample, read a few times.
const few = 8 << 20

// TestHolesAreNotRead extends files with holes to huge sizes: opening the store reads only the data.
func TestHolesAreNotRead(t *testing.T) {
	dir := sample(t)
	kinds := map[string][]string{"pack": {}, "finished pack": {}, "index": {}, "merged index": {}, "manifest": {}, "touch": {}, "mark": {vfs.FormatFile, vfs.ReadmeFile}, "leases": {vfs.LeasesFile, vfs.CollectFile}}
	for _, path := range files(t, dir) {
		name, _ := filepath.Rel(dir, path)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		kind := map[string]string{".pack": "pack", ".idx": "index", ".touch": "touch", "": "manifest"}[filepath.Ext(name)]
		switch {
		case name == mergedFile:
			kind = "merged index"
		case kind == "pack" && isSealed(info):
			kind = "finished pack"
		case kind == "" || !strings.Contains(name, string(filepath.Separator)) || strings.HasPrefix(name, vfs.Blobs):
			continue
		}
		kinds[kind] = append(kinds[kind], name)
	}
	for kind, names := range kinds {
		if len(names) == 0 {
			t.Fatalf("no %s", kind)
		}
		for _, log := range []int{29, 34, 38} {
			t.Run(fmt.Sprintf("%s of 2^%d bytes", kind, log), func(t *testing.T) {
				to := t.TempDir()
				copyDir(t, dir, to)
				for _, name := range names {
					if err := touchFile(filepath.Join(to, name)); err != nil {
						t.Fatal(err)
					}
					lengthen(t, filepath.Join(to, name), 1<<log)
				}
				testHoles(t, to, kind == "pack" || kind == "finished pack")
			})
		}
	}
}

// touchFile creates a file unless it exists.
func touchFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return file.Close()
}

func testHoles(t *testing.T, dir string, inPacks bool) {
	readOnly := small(dir)
	readOnly.ReadOnly = true
	for i, o := range []Options{readOnly, small(dir), small(dir)} {
		s, read := counted(t, o, nil)
		wantAll(t, s, !o.ReadOnly)
		if u, err := s.Usage(t.Context()); err != nil || !o.ReadOnly && inPacks && u.Records < sampleRecords {
			t.Errorf("usage %+v, %v", u, err)
		}
		if _, err := s.Manifest(t.Context(), "m"); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if !o.ReadOnly {
			if _, err := s.Collect(t.Context(), 1<<50); err != nil {
				t.Error(err)
			}
		}
		if n := read.Load(); n > few {
			t.Errorf("command %d reads %d bytes", i, n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, path := range files(t, dir) {
		if info, err := os.Stat(path); err == nil && info.Size() > few && inPacks && !isSealed(info) {
			t.Errorf("%s still has %d bytes", path, info.Size())
		}
	}
}

// TestHolesAreReadOnce checks that, if the system does not report holes, they are read once, up to the size limit of a
// pack.
func TestHolesAreReadOnce(t *testing.T) {
	testrand.Long(t)
	for _, sealed := range []bool{false, true} {
		t.Run(fmt.Sprintf("finished %t", sealed), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Dir: dir, Logger: quiet})
			mustPut(t, s, recordsFrom(0, sampleRecords)...)
			path := s.writer.pack.path
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if sealed {
				if err := os.Chmod(path, 0o444); err != nil {
					t.Fatal(err)
				}
			}
			lengthen(t, path, 1<<38)
			var log bytes.Buffer
			for i, most := range []int64{2*format.MaxPack + few, few} {
				s, read := counted(t, Options{Dir: dir, MaxBytes: -1, Logger: slog.New(slog.NewTextHandler(&log, nil))}, reportsNoHoles)
				wantAll(t, s, false)
				if n := read.Load(); n > most {
					t.Errorf("open %d reads %d bytes, more than %d", i, n, most)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if n := strings.Count(log.String(), "damaged record"); n != 1 {
				t.Errorf("%d warnings:\n%s", n, log.String())
			}
		})
	}
}

// TestRecordsAroundHolesAreFound checks packs in which a crash left zeros with records after them. Records outside are
// found, and stay when others are put after them.
func TestRecordsAroundHolesAreFound(t *testing.T) {
	random := testrand.New(t)
	for range testrand.Rounds(20, 400) {
		dir := t.TempDir()
		o := Options{Dir: dir, MaxBytes: -1, BlobBytes: 1 << 20, Logger: quiet}
		s := open(t, o)
		n := 50 + random.IntN(100)
		var ends []int64
		for i := range n {
			mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), random.IntN(60_000))})
			ends = append(ends, s.writer.end)
		}
		path := s.writer.pack.path
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		end := ends[n-1]
		var holes []format.Extent
		hit := func(from, to int64) bool {
			for _, h := range holes {
				if from < h.To && h.From < to {
					return true
				}
			}
			return false
		}
		for range 1 + random.IntN(4) {
			from := random.Int64N(end)
			to := min(from+random.Int64N(end/3), end)
			if random.IntN(2) == 0 { // as a file system leaves them
				from, to = from&^4095, to&^4095
			}
			holes = append(holes, format.Extent{From: from, To: to})
		}
		what := fmt.Sprintf("holes %v of %d", holes, end)
		if err := punch(path, holes); err != nil {
			t.Fatal(err)
		}
		if tail := random.Int64N(1 << 30); random.IntN(3) > 0 {
			what += fmt.Sprintf(", %d zeros behind", tail)
			lengthen(t, path, end+tail)
		}
		switch random.IntN(3) {
		case 0:
			what += ", no index"
			_ = os.Remove(strings.TrimSuffix(path, packSuffix) + indexSuffix)
		case 1:
			what += ", finished"
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
		}
		for round := range 3 {
			s, read := counted(t, o, nil)
			for i := range n {
				from := int64(0)
				if i > 0 {
					from = ends[i-1]
				}
				got, err := s.Get(t.Context(), storetest.Key(i))
				wrong := err == nil && len(got.Payload) > 0 && !bytes.HasPrefix(storetest.Payload(uint64(i), 60_000), got.Payload)
				if wrong || err != nil && !hit(from, ends[i]) {
					t.Fatalf("%s, round %d: record %d from %d to %d: %v", what, round, i, from, ends[i], err)
				}
			}
			mustPut(t, s, record(1000+round))
			for i := range round + 1 {
				if err := holds(s, 1000+i); err != nil {
					t.Fatalf("%s, round %d: %v", what, round, err)
				}
			}
			if n := read.Load(); n > 8*end+few {
				t.Fatalf("%s, round %d: %d bytes were read", what, round, n)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// punch zeros parts of a file, as holes where they cover whole blocks.
func punch(path string, holes []format.Extent) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, h := range holes {
		clear(b[h.From:h.To])
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	for from := 0; from < len(b); from += 4096 {
		block := b[from:min(from+4096, len(b))]
		if bytes.Count(block, []byte{0}) == len(block) {
			continue
		}
		if _, err := file.WriteAt(block, int64(from)); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return errors.Join(file.Truncate(int64(len(b))), file.Close())
}

// TestStraysDoNotCount checks that foreign files are neither counted nor read, and that damaged files without a byte are
// limited as others are.
func TestStraysDoNotCount(t *testing.T) {
	dir := sample(t)
	s := open(t, small(dir))
	before, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, directory := range []string{vfs.Packs, vfs.Blobs, vfs.Manifests, vfs.Touches, vfs.Quarantine, vfs.Temps, vfs.Trash} {
		path := s.files.Path(directory, "stray")
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		lengthen(t, path, 1<<34)
	}
	if after, err := s.Usage(t.Context()); err != nil || after != before {
		t.Errorf("usage %+v, before %+v, %v", after, before, err)
	}
}

func TestQuarantineOfManyIsListedSeldom(t *testing.T) {
	var lists atomic.Int64
	o := small(t.TempDir())
	o.MaxBytes = 16 << 20
	s, _ := counted(t, o, func(op vfs.Op, path string) error {
		if op == vfs.OpList && filepath.Base(path) == vfs.Quarantine {
			lists.Add(1)
		}
		return nil
	})
	const files = 1000
	for i := range files {
		path := s.files.Path(vfs.Manifests, fmt.Sprintf("%064x", i))
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.readManifest(path); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	held, err := os.ReadDir(s.files.Path(vfs.Quarantine))
	if most := int(o.MaxBytes / 16 / 4096); err != nil || len(held) > most || len(held) < most/2 {
		t.Errorf("%d files are held, %v", len(held), err)
	}
	if n := lists.Load(); n > files/20 {
		t.Errorf("listed %d times for %d files", n, files)
	}
}
