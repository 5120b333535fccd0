//go:build unix

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// TestEvictionOrder checks that records used within the last hours outlive others, whatever the order in which they were
// written.
func TestEvictionOrder(t *testing.T) {
	for _, blobBytes := range []int64{1 << 20, 1000} {
		t.Run(fmt.Sprint("blobs from ", blobBytes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testEvictionOrder(t, blobBytes) })
		})
	}
}

func testEvictionOrder(t *testing.T, blobBytes int64) {
	o := Options{Dir: t.TempDir(), PackBytes: 20_000, BlobBytes: blobBytes}
	s := open(t, o)
	for i := range 40 {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 5000)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	}
	time.Sleep(5 * time.Hour)
	for i := range 10 { // the oldest are used again
		if _, err := s.Get(t.Context(), storetest.Key(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Hour)
	s = open(t, o)
	for info, err := range s.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		recent := time.Since(info.Used) < 2*time.Hour
		used := false
		for i := range 10 {
			used = used || info.Key == storetest.Key(i)
		}
		if recent != used {
			t.Errorf("%s: Used %v ago", info.Key, time.Since(info.Used))
		}
	}
	if _, err := s.Collect(t.Context(), 20*5400); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		ok, err := s.Has(t.Context(), storetest.Key(i))
		if err != nil {
			t.Fatal(err)
		}
		if i < 10 && !ok || i >= 10 && i < 28 && ok || i > 32 && !ok {
			t.Errorf("record %d: stored %v", i, ok)
		}
	}
}

func TestUsesAreMergedAcrossSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for range 3 * maxTouchFiles {
			s, err := Open(Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Get(t.Context(), storetest.Key(1)); err != nil {
				if err := s.Put(t.Context(), record(1)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
		}
		s := open(t, Options{Dir: dir})
		if n := len(s.touchFiles()); n == 0 || n > maxTouchFiles {
			t.Errorf("%d touch files", n)
		}
		for info, err := range s.Records(t.Context()) {
			if err != nil || time.Since(info.Used) > 3*time.Hour {
				t.Errorf("used %v ago, %v", time.Since(info.Used), err)
			}
		}
	})
}

func TestLimitHoldsUnderContinuousWriting(t *testing.T) {
	for _, size := range []int{300, 20_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			const limit = 1 << 20
			o := Options{Dir: t.TempDir(), MaxBytes: limit, BlobBytes: 10_000, Logger: quiet}
			s := open(t, o)
			keep := []key.Key{storetest.Key(0)}
			if err := s.PutManifest(t.Context(), store.Manifest{Name: "keep", Pinned: true, Keys: keep}); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for w := range 2 {
				wg.Go(func() {
					for i := range 3 * limit / size {
						n := 2*i + w
						r := store.Record{Key: storetest.Key(n), Payload: storetest.Payload(uint64(n), size)}
						if err := s.Put(t.Context(), r); err != nil {
							t.Errorf("Put: %v", err)
							return
						}
						if i%50 == 0 {
							if u, err := s.Usage(t.Context()); err != nil || u.Bytes > limit+limit/4 {
								t.Errorf("%d bytes held, cap %d, %v", u.Bytes, limit, err)
							}
						}
					}
				})
			}
			wg.Wait()
			got, err := s.Get(t.Context(), keep[0])
			if err != nil || !bytes.Equal(got.Payload, storetest.Payload(0, size)) {
				t.Errorf("the pinned record: %v", err)
			}
			if u, err := s.Usage(t.Context()); err != nil || u.Bytes < limit/2 {
				t.Errorf("%d bytes held, %v: too much was evicted", u.Bytes, err)
			}
		})
	}
}

// TestPinnedBeyondTheCap checks that Puts continue if everything is pinned, without an eviction each time.
func TestPinnedBeyondTheCap(t *testing.T) {
	o := small(t.TempDir())
	o.MaxBytes = 100_000
	s := open(t, o)
	var m store.Manifest
	m.Pinned = true
	for i := range 50 {
		m.Keys = append(m.Keys, storetest.Key(i))
	}
	if err := s.PutManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := s.Put(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		if err := holds(s, i); err != nil {
			t.Error(err)
		}
	}
}

// TestEvictionDoesNotResurrect checks that an eviction never exposes an older record of the key.
func TestEvictionDoesNotResurrect(t *testing.T) {
	dir := t.TempDir()
	var stores []*Store
	for i := range 3 { // three writers, three packs, one key
		s := open(t, small(dir))
		s.refresh()
		for j, payload := range [][]byte{{byte(i)}, storetest.Payload(uint64(i), 1000)} {
			if err := s.Put(t.Context(), store.Record{Key: storetest.Key(j * (i + 1)), Payload: payload}); err != nil {
				t.Fatal(err)
			}
		}
		stores = append(stores, s)
	}
	// The last pack is free; the others are being written and stay.
	if err := stores[2].writer.release(); err != nil {
		t.Fatal(err)
	}
	if _, err := stores[2].Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for i, s := range append(stores, open(t, small(dir))) {
		s.refresh()
		if got, err := s.Get(t.Context(), storetest.Key(0)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("store %d finds %v, %v", i, got.Payload, err)
		}
	}
}

// TestSweepNextToPutOfTheSameBlob checks that a blob that Collect finds unreferenced may get a record at that moment.
func TestSweepNextToPutOfTheSameBlob(t *testing.T) {
	dir := t.TempDir()
	o := small(dir)
	a, b := open(t, o), open(t, o)
	payload := storetest.Payload(1, 10_000)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			// It had a record once, or its age would protect it.
			if err := a.sweepBlobs(map[key.Digest]*blobRefs{key.DigestOf(payload): {}}); err != nil {
				t.Errorf("sweep: %v", err)
			}
		}
	})
	for range 300 {
		if err := b.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: payload}); err != nil {
			t.Fatal(err)
		}
		if err := b.Delete(t.Context(), storetest.Key(1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: payload}); err != nil {
		t.Fatal(err)
	}
	cancel()
	wg.Wait()
	if got, err := b.Get(t.Context(), storetest.Key(1)); err != nil || !bytes.Equal(got.Payload, payload) {
		t.Errorf("the record's blob was swept: %v", err)
	}
}

func TestEqualPayloadsShareABlob(t *testing.T) {
	s := open(t, small(t.TempDir()))
	payload := storetest.Payload(1, 100_000)
	for i := range 5 {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	if u, err := s.Usage(t.Context()); err != nil || u.Bytes > 110_000 {
		t.Errorf("%d bytes for five equal payloads, %v", u.Bytes, err)
	}
	if err := s.Delete(t.Context(), storetest.Key(0), storetest.Key(1), storetest.Key(2), storetest.Key(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(t.Context(), 1<<40); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), storetest.Key(4))
	if err != nil || !bytes.Equal(got.Payload, payload) || !got.Mapped {
		t.Errorf("the last one: %v, mapped %v", err, got.Mapped)
	}
}

// TestReadersDuringCollect checks that readers of the old packs continue while another process rewrites them.
func TestReadersDuringCollect(t *testing.T) {
	dir := t.TempDir()
	o := small(dir)
	writer, reader := open(t, o), open(t, o)
	for i := range 200 {
		if err := writer.Put(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i = (i + 1) % 200 {
			if i%2 == 0 {
				if err := holds(reader, i); err != nil {
					t.Errorf("during Collect: %v", err)
				}
			}
		}
	})
	for i := 1; i < 200; i += 2 {
		if err := writer.Delete(t.Context(), storetest.Key(i)); err != nil {
			t.Fatal(err)
		}
		if i%20 == 1 {
			if _, err := writer.Collect(t.Context(), 1<<40); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	wg.Wait()
	reader.refresh() // deletions by others are seen within staleAfter
	for i := range 200 {
		if err := holds(reader, i); (i%2 == 1) != errors.Is(err, store.ErrNotFound) {
			t.Errorf("afterwards: record %d: %v", i, err)
		}
	}
}

// TestManyWritersKeepTheCap checks that concurrent writers hardly exceed the limit. The excess is what is put between
// two evictions, a pack whose records are being moved, and files without records.
func TestManyWritersKeepTheCap(t *testing.T) {
	for _, of := range []struct{ writers, records, bytes int }{{32, 1, 100_000}, {16, 20, 20_000}, {32, 1, 10_000}} {
		t.Run(fmt.Sprintf("%+v", of), func(t *testing.T) {
			o := Options{Dir: t.TempDir(), MaxBytes: 4 << 20}
			s := open(t, o)
			most, looked := int64(0), make(chan struct{})
			ended, end := context.WithCancel(t.Context())
			go func() {
				defer close(looked)
				for ended.Err() == nil {
					most = max(most, filesIn(t, o.Dir))
				}
			}()
			var next atomic.Int64
			var wg sync.WaitGroup
			for range of.writers {
				wg.Go(func() {
					for i := next.Add(1); int(i)*of.records*of.bytes < 4*int(o.MaxBytes); i = next.Add(1) {
						all := make([]store.Record, of.records)
						for j := range all {
							n := int(i)*of.records + j
							all[j] = store.Record{Key: storetest.Key(n), Payload: storetest.Payload(uint64(n), of.bytes)}
						}
						if err := s.Put(t.Context(), all...); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			end()
			<-looked
			if allowed := o.MaxBytes + o.MaxBytes/4 + int64(of.records*of.bytes); most > allowed {
				t.Errorf("the directory had %d bytes, of which %d were allowed", most, allowed)
			}
		})
	}
}

// filesIn returns the bytes of the files in a directory, which may change during the walk.
func filesIn(t *testing.T, dir string) (bytes int64) {
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
			return nil
		}
		if err == nil {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return bytes
}

// TestShortRunsKeepTheCap checks that runs that end right after a put do not leave more behind each time.
func TestShortRunsKeepTheCap(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: 200_000}
	for run := range 30 {
		s := open(t, o)
		for i := range 4 {
			k := storetest.Key(4*run + i)
			if err := s.Put(t.Context(), store.Record{Key: k, Payload: storetest.Payload(uint64(4*run+i), 10_000)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
		u, err := s.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if u.Bytes > o.MaxBytes+o.MaxBytes/16 { // the slack between two evictions
			t.Fatalf("after %d runs the store holds %d bytes of %d", run+1, u.Bytes, o.MaxBytes)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
