package blockcache_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/objectstore"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(b)
	return b
}

// engine opens a cache directory without memory, so hits come from the store.
func engine(t *testing.T, dir string) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Dir: dir, MemoryBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func keep(t *testing.T, url string, l *larder.Larder) *blockcache.File {
	t.Helper()
	f, err := objectstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	k, err := blockcache.Keep(f, l)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ranges lists the requested ranges.
func ranges(s *objectstoretest.Server) (all []string) {
	for _, r := range s.Requests() {
		all = append(all, r.Range)
	}
	return all
}

// size is that of a file of many blocks, the last of which is short.
const size = 40*blockcache.Bytes + 5

// span returns the range of a request for blocks.
func span(first, last int) string {
	return fmt.Sprintf("bytes=%d-%d", first*blockcache.Bytes, min(size, (last+1)*blockcache.Bytes)-1)
}

// TestBlocks checks that adjacent blocks come by one request. Blocks that were read are not
// requested again, also in another process, except for another version.
func TestBlocks(t *testing.T) {
	want := content(size)
	s := objectstoretest.Serve(t)
	dir := t.TempDir()
	f := keep(t, s.Put("a", want), engine(t, dir))
	s.Requests()
	for i, c := range []struct {
		at, n int
		asked []string
	}{
		{10*blockcache.Bytes + 7, 100, []string{span(10, 10)}},
		{10 * blockcache.Bytes, blockcache.Bytes, nil},
		{20*blockcache.Bytes - 1, 2*blockcache.Bytes + 2, []string{span(19, 22)}},
		{18 * blockcache.Bytes, 6 * blockcache.Bytes, []string{span(18, 18), span(23, 23)}}, // but not the bytes between them
		{size - 5, 5, []string{span(40, 40)}},
		{5, 1, []string{span(0, 0)}},
		{size, 0, nil},
	} {
		got := make([]byte, c.n)
		if err := f.ReadAt(t.Context(), got, int64(c.at)); err != nil || !bytes.Equal(got, want[c.at:c.at+c.n]) {
			t.Fatalf("%d: %v", i, err)
		}
		if asked := ranges(s); fmt.Sprint(asked) != fmt.Sprint(c.asked) {
			t.Errorf("%d: requested %v, want %v", i, asked, c.asked)
		}
	}
	for _, c := range []struct{ at, n int64 }{{-1, 1}, {size, 1}, {size - 1, 2}} {
		if err := f.ReadAt(t.Context(), make([]byte, c.n), c.at); err == nil {
			t.Errorf("%d bytes at %d were read", c.n, c.at)
		}
	}
	other := keep(t, s.URL+"/a?token=of-today", engine(t, dir))
	s.Requests()
	if err := other.ReadAt(t.Context(), make([]byte, 100), 10*blockcache.Bytes); err != nil || len(s.Requests()) != 0 {
		t.Errorf("asked again: %v", err)
	}
	changed := content(size + 1)
	f = keep(t, s.Put("a", changed), engine(t, dir))
	got := make([]byte, 100)
	if err := f.ReadAt(t.Context(), got, size-99); err != nil || !bytes.Equal(got, changed[size-99:]) {
		t.Errorf("another version: %v", err)
	}
	if err := other.ReadAt(t.Context(), got, 30*blockcache.Bytes); !errors.Is(err, objectstore.ErrChanged) {
		t.Errorf("%v", err)
	}
}

// TestOneRequest checks that concurrent readers of a block fetch it once.
func TestOneRequest(t *testing.T) {
	want := content(blockcache.Bytes)
	s := objectstoretest.Serve(t)
	url := s.Put("a", want)
	dir := t.TempDir()
	files := []*blockcache.File{keep(t, url, engine(t, dir)), keep(t, url, engine(t, dir))}
	s.Requests()
	waiting := make(chan struct{})
	s.Fail(func(int, *http.Request) objectstoretest.Fault {
		<-waiting
		return objectstoretest.Fault{}
	})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			got := make([]byte, 100)
			if err := files[i%2].ReadAt(t.Context(), got, int64(i)); err != nil || !bytes.Equal(got, want[i:i+100]) {
				t.Error(err)
			}
		})
	}
	close(waiting)
	all.Wait()
	if r := ranges(s); len(r) != 1 {
		t.Errorf("requested %v", r)
	}
}

// TestNotCached checks that nothing is stored for an uncertain version or without a store.
func TestNotCached(t *testing.T) {
	s := objectstoretest.Serve(t)
	for name, f := range map[string]*blockcache.File{
		"just now": keep(t, s.PutAs("a", []byte("content"), "", time.Now()), engine(t, t.TempDir())),
		"no store": keep(t, s.Put("b", []byte("content")), nil),
	} {
		s.Requests()
		for range 2 {
			b := make([]byte, 3)
			if err := f.ReadAt(t.Context(), b, 2); err != nil || string(b) != "nte" {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
		want := []string{"bytes=2-4", "bytes=2-4"}
		if name == "just now" { // copied once
			want = []string{"bytes=0-6"}
		}
		if r := ranges(s); !slices.Equal(r, want) {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// TestDamagedBlocks checks that a block damaged in the store is fetched again.
func TestDamagedBlocks(t *testing.T) {
	want := content(3 * blockcache.Bytes)
	s := objectstoretest.Serve(t)
	dir := t.TempDir()
	url := s.Put("a", want)
	all := make([]byte, len(want))
	l := engine(t, dir)
	if err := errors.Join(keep(t, url, l).ReadAt(t.Context(), all, 0), l.Close()); err != nil {
		t.Fatal(err)
	}
	damaged := 0
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) < blockcache.Bytes {
			return err
		}
		b[len(b)/2] ^= 1
		damaged++
		return errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, b, 0o600))
	})
	if err != nil || damaged == 0 {
		t.Fatal(damaged, err)
	}
	s.Requests()
	clear(all)
	if err := keep(t, url, engine(t, dir)).ReadAt(t.Context(), all, 0); err != nil || !bytes.Equal(all, want) {
		t.Error(err)
	}
	if r := ranges(s); len(r) < 2 {
		t.Errorf("requested %v", r)
	}
}

// TestRandomReads checks that concurrent random reads return the right bytes, also if
// requests break off.
func TestRandomReads(t *testing.T) {
	want := content(20*blockcache.Bytes + 77)
	s := objectstoretest.Serve(t)
	f := keep(t, s.Put("a", want), engine(t, t.TempDir()))
	s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
		if n%5 == 0 {
			return objectstoretest.Fault{Cut: 100_000}
		}
		return objectstoretest.Fault{}
	})
	random := testrand.New(t)
	var all sync.WaitGroup
	for range 8 {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		all.Go(func() {
			for range 20 {
				at := own.IntN(len(want))
				b := make([]byte, own.IntN(min(len(want)-at, 3*blockcache.Bytes)+1))
				if err := f.ReadAt(t.Context(), b, int64(at)); err != nil || !bytes.Equal(b, want[at:at+len(b)]) {
					t.Errorf("%d bytes at %d: %v", len(b), at, err)
				}
			}
		})
	}
	all.Wait()
	if n := s.Sent(); n > int64(2*len(want)) {
		t.Errorf("%d bytes were sent of a file of %d", n, len(want))
	}
}

// TestWholeFiles checks that a file whose server has no ranges is fetched once.
func TestWholeFiles(t *testing.T) {
	want := content(size)
	s := objectstoretest.Serve(t)
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Whole: true} })
	f := keep(t, s.Put("a", want), engine(t, t.TempDir()))
	s.Requests()
	for _, at := range []int{20*blockcache.Bytes + 3, 7, size - 1000, 3 * blockcache.Bytes} {
		got := make([]byte, 1000)
		if err := f.ReadAt(t.Context(), got, int64(at)); err != nil || !bytes.Equal(got, want[at:at+1000]) {
			t.Errorf("%d: %v", at, err)
		}
	}
	if r := ranges(s); len(r) != 1 {
		t.Errorf("requested %v", r)
	}
}

// BenchmarkCached reads 5 KiB from stored blocks: in memory, or in the store.
func BenchmarkCached(b *testing.B) {
	for name, memory := range map[string]int64{"memory": 64 << 20, "store": -1} {
		b.Run(name, func(b *testing.B) {
			s := objectstoretest.Serve(b)
			l, err := larder.Open(larder.Options{Dir: b.TempDir(), MemoryBytes: memory})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			of, err := objectstore.Open(b.Context(), s.Put("a", content(size)))
			if err != nil {
				b.Fatal(err)
			}
			f, err := blockcache.Keep(of, l)
			if err != nil {
				b.Fatal(err)
			}
			to := make([]byte, 5<<10)
			random := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				if err := f.ReadAt(b.Context(), to, random.Int64N(size-5<<10)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
