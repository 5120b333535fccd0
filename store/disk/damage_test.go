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
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/corrupt"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// small makes packs and blobs of test records finish quickly.
func small(dir string) Options {
	return Options{Dir: dir, PackBytes: 8 << 10, BlobBytes: 4 << 10, Logger: quiet}
}

const sampleRecords = 40

var sampleManifest = store.Manifest{Name: "m", Pinned: true, Time: time.Unix(1e9, 0), Note: []byte("note"), Keys: []key.Key{storetest.Key(1), storetest.Key(2)}}

// sample fills a directory with everything a store can hold.
func sample(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := Open(small(dir))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sampleRecords / 2 {
		mustPut(t, s, record(i))
	}
	for i := sampleRecords / 2; i < sampleRecords; i += 10 { // the small ones in groups
		putMany(t, s, recordsFrom(i, 10))
	}
	if groups, _ := groupsIn(t, s); groups < 3 {
		t.Fatalf("%d groups", groups)
	}
	if err := s.PutManifest(t.Context(), sampleManifest); err != nil {
		t.Fatal(err)
	}
	if err := s.writeTouches(map[uint64]uint32{1: 2, 3: 4}); err != nil {
		t.Fatal(err)
	}
	mergeNow(s)
	mustPut(t, s, record(0)) // not merged
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func files(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// copyDir copies a directory, and which packs are sealed.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, path := range files(t, from) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(from, path)
		if err := os.Chmod(filepath.Join(to, name), info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamageIsAMiss damages a directory in every way, singly and in some pairs: a read returns the right record or none,
// and the store continues.
func TestDamageIsAMiss(t *testing.T) {
	dir := sample(t)
	random, sound, all := testrand.New(t), corrupt.Remember(t, dir), corrupt.Each(t, dir)
	rounds, lost := testrand.Rounds(len(all), 1000), 0
	for round := range rounds {
		what := all[round%len(all)].Do(t, dir, random)
		if round%3 == 0 {
			what += ", " + corrupt.Any(t, dir, random)
		}
		lost += checkDamaged(t, dir, what)
		if t.Failed() {
			return
		}
		sound.Restore(t)
	}
	if lost == 0 || lost > rounds*sampleRecords/2 {
		t.Errorf("%d records lost in %d rounds: the harm does nothing, or too much", lost, rounds)
	}
}

// checkDamaged reads everything in a damaged directory and rewrites the lost records. It returns their number.
func checkDamaged(t *testing.T, dir, what string) (lost int) {
	t.Helper()
	s, err := Open(small(dir))
	if err != nil {
		t.Errorf("%s: Open: %v", what, err)
		return 0
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: Close: %v", what, err)
		}
	}()
	var again []store.Record
	for i := range sampleRecords {
		err := holds(s, i)
		if errors.Is(err, store.ErrNotFound) {
			again = append(again, record(i))
		} else if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	lost = len(again)
	if err := s.Put(t.Context(), again...); err != nil {
		t.Errorf("%s: Put: %v", what, err)
	}
	for i := range sampleRecords {
		if err := holds(s, i); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if m, err := s.Manifest(t.Context(), "m"); err == nil && !reflect.DeepEqual(m, sampleManifest) {
		t.Errorf("%s: manifest is wrong: %+v", what, m)
	} else if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%s: Manifest: %v", what, err)
	}
	if _, err := s.Collect(t.Context(), 1<<40); err != nil {
		t.Errorf("%s: Collect: %v", what, err)
	}
	other, err := Open(small(dir))
	if err != nil {
		t.Errorf("%s: Open again: %v", what, err)
		return lost
	}
	for i := range sampleRecords {
		if err := holds(other, i); err != nil {
			t.Errorf("%s: after healing: %v", what, err)
		}
		p, err := other.Provenance(t.Context(), storetest.Key(i))
		if err == nil && !bytes.Equal(p, record(i).Provenance) {
			t.Errorf("%s: provenance %d is wrong", what, i)
		} else if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: Provenance: %v", what, err)
		}
	}
	if err := other.Close(); err != nil {
		t.Errorf("%s: Close again: %v", what, err)
	}
	return lost
}

// TestBadHeaderCostsOneRecord checks that a bad header loses only the records it hit, and that the pack continues after
// it.
func TestBadHeaderCostsOneRecord(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	for i := range 10 {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: bytes.Repeat([]byte("LARDREC\x01"), 20)}); err != nil {
			t.Fatal(err)
		}
	}
	path := s.writer.pack.path
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/10*4+20] ^= 1
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	other := open(t, Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range 10 {
		_, err := other.Get(t.Context(), storetest.Key(i))
		if (i == 4) != errors.Is(err, store.ErrNotFound) {
			t.Errorf("record %d: %v", i, err)
		}
	}
	if n := strings.Count(log.String(), "damaged record"); n != 1 {
		t.Errorf("%d warnings, want 1:\n%s", n, log.String())
	}
	aside, err := os.ReadDir(filepath.Join(dir, vfs.Quarantine))
	if err != nil || len(aside) != 1 {
		t.Errorf("quarantine holds %v, %v", aside, err)
	}
}

func TestDamageIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	o := small(dir)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := open(t, o)
	payload := storetest.Payload(1, 10_000)
	if err := s.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: payload}); err != nil {
		t.Fatal(err)
	}
	path := s.blobPath(key.DigestOf(payload))
	if err := errors.Join(os.Chmod(path, 0o666), os.Truncate(path, 9000)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := s.Get(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("a blob that was cut: %v", err)
		}
	}
	if n := strings.Count(log.String(), path); n < 1 || n > 2 { // the file, and the record that names it
		t.Errorf("the blob is in %d warnings:\n%s", n, log.String())
	}
	if err := s.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: payload}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), storetest.Key(1)); err != nil || !bytes.Equal(got.Payload, payload) {
		t.Errorf("after Put: %v", err)
	}
}

// TestPayloadIsNeverTakenForRecords stores a pack as a payload, whose bytes look like records.
func TestPayloadIsNeverTakenForRecords(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	if err := s.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: []byte("stale")}); err != nil {
		t.Fatal(err)
	}
	inner, err := os.ReadFile(s.writer.pack.path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	outer := open(t, Options{Dir: dir})
	if err := outer.Put(t.Context(), store.Record{Key: storetest.Key(2), Payload: inner}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(outer.writer.pack.path, os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt([]byte("x"), 20) // the scan must look inside the payload
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	o := small(dir)
	if _, err := open(t, o).Get(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record inside a payload was found: %v", err)
	}
}

func TestQuarantineIsBounded(t *testing.T) {
	o := small(t.TempDir())
	o.MaxBytes = 1 << 20
	s := open(t, o)
	for i := range 50 {
		path := s.files.Path(vfs.Manifests, fmt.Sprintf("%064x", i))
		if err := os.WriteFile(path, make([]byte, 10_000), 0o666); err != nil {
			t.Fatal(err)
		}
		s.files.Quarantine(path, format.ErrDamaged)
	}
	size, err := vfs.TreeSize(s.files.Path(vfs.Quarantine))
	if err != nil || size > o.MaxBytes/16 || size < o.MaxBytes/32 {
		t.Errorf("quarantine holds %d bytes, %v", size, err)
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	dir := sample(t)
	text := format.VersionText(format.Version + 1)
	if err := os.WriteFile(filepath.Join(dir, vfs.FormatFile), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	_, err := Open(Options{Dir: dir})
	var version *VersionError
	if !errors.As(err, &version) || version.Version != format.Version+1 {
		t.Fatalf("Open: %v", err)
	}
	if after := files(t, dir); len(after) != len(before) {
		t.Errorf("Open changed the directory of a newer format")
	}
}
