//go:build unix

package disk

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// unpack extracts an archive into a directory.
func unpack(t *testing.T, archive string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for all := tar.NewReader(z); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o777)
		} else {
			b, rerr := io.ReadAll(all)
			err = errors.Join(rerr, os.WriteFile(path, b, h.FileInfo().Mode()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDirectoriesOfVersion2AreRead opens a directory of an earlier version, with all kinds of files. It finds its records by
// the merged index, by the indexes of packs, and by the packs alone.
func TestDirectoriesOfVersion2AreRead(t *testing.T) {
	for _, without := range []string{"nothing", mergedFile, vfs.Packs + "/*" + indexSuffix} {
		dir := unpack(t, "testdata/version2.tar.gz")
		paths, err := filepath.Glob(filepath.Join(dir, without))
		if without == vfs.Packs+"/*"+indexSuffix {
			paths = append(paths, filepath.Join(dir, mergedFile))
		}
		for _, path := range paths {
			err = errors.Join(err, os.Remove(path))
		}
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		o := small(dir)
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		s := open(t, o)
		checkVersion2(t, s)
		if _, err := s.Collect(t.Context(), 1<<40); err != nil {
			t.Error(err)
		}
		checkVersion2(t, s)
		if log.Len() > 0 {
			t.Errorf("without %s: %s", without, log.String())
		}
	}
}

func checkVersion2(t *testing.T, s *Store) {
	t.Helper()
	want := append(recordsFrom(0, 20), similarFrom(100, 30)...)
	want = append(want, store.Record{
		Key: storetest.Key(50), Link: storetest.Key(1), Created: time.Unix(1e9, 0), Cost: time.Hour, Provenance: []byte("link"),
	})
	for i := range want {
		err := same(s, want[i])
		if i == 3 && errors.Is(err, store.ErrNotFound) {
			continue // deleted
		}
		if i == 3 || err != nil {
			t.Errorf("record %d: %v", i, err)
		}
	}
	if n := len(s.stored()); n != len(want)-1 {
		t.Errorf("%d records, want %d", n, len(want)-1)
	}
	if m, err := s.Manifest(t.Context(), "m"); err != nil || !reflect.DeepEqual(m, sampleManifest) {
		t.Errorf("manifest: %+v, %v", m, err)
	}
	for info, err := range s.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if used := time.Unix(40_000_000*60, 0); info.Key == storetest.Key(1) && !info.Used.Equal(used) {
			t.Errorf("record 1 was used at %v, want %v", info.Used, used)
		}
	}
}
