package key

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// counted is a memo that counts its calls.
type counted struct {
	Memo
	mu                  sync.Mutex
	loads, hits, stores int
}

func (c *counted) Load(s FileStat) (Digest, bool) {
	d, ok := c.Memo.Load(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	if ok {
		c.hits++
	}
	return d, ok
}

func (c *counted) Store(s FileStat, d Digest) {
	c.Memo.Store(s, d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stores++
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func after(d time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(d) }
}

func TestDigestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"", "a", strings.Repeat("b", chunkBytes), strings.Repeat("c", 2*chunkBytes+1)} {
		write(t, path, text)
		d, s, err := DigestFile(t.Context(), path, nil)
		if err != nil || d != DigestOf([]byte(text)) || s.Size != int64(len(text)) {
			t.Errorf("%d bytes: %v, %+v, %v", len(text), d, s, err)
		}
		info, err := os.Stat(path)
		if err != nil || s != StatOf(info) {
			t.Errorf("state %+v, want %+v (%v)", s, StatOf(info), err)
		}
	}
	if _, _, err := DigestFile(t.Context(), path+".none", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v for no file", err)
	}
}

// TestMemoRule checks that a digest is stored and used only if the file was unchanged for 40 seconds.
func TestMemoRule(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "one")
	memo := &counted{Memo: NewMemo(10)}
	digest := func(now func() time.Time) Digest {
		t.Helper()
		d, _, err := fileDigester{memo, now, always}.digest(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := func(loads, hits, stores int) {
		t.Helper()
		if memo.loads != loads || memo.hits != hits || memo.stores != stores {
			t.Errorf("%d loads, %d hits, %d stores; want %d, %d, %d", memo.loads, memo.hits, memo.stores, loads, hits, stores)
		}
	}
	digest(time.Now)
	want(0, 0, 0) // too new
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	digest(time.Now)
	want(0, 0, 0) // old modification time, but written just now
	digest(after(time.Minute))
	want(1, 0, 1)
	digest(after(time.Minute))
	want(2, 1, 1)
	write(t, path, "two")
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if d := digest(after(time.Minute)); d != DigestOf([]byte("two")) {
		t.Error("a file of equal size and time of content has its old digest")
	}
	want(3, 1, 2)
	if err := os.Chtimes(path, old, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	digest(after(time.Minute))
	want(3, 1, 2) // a time in the future proves nothing
}

func TestMemoDoesNotMixFiles(t *testing.T) {
	dir, memo := t.TempDir(), NewMemo(10)
	old := time.Now().Add(-time.Hour)
	for _, text := range []string{"aaa", "bbb", "ccc"} {
		path := filepath.Join(dir, text)
		write(t, path, text)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for _, text := range []string{"aaa", "bbb", "ccc"} {
			d, _, err := fileDigester{memo, after(time.Minute), always}.digest(t.Context(), filepath.Join(dir, text))
			if err != nil || d != DigestOf([]byte(text)) {
				t.Errorf("%s: %v, %v", text, d, err)
			}
		}
	}
}

func TestSettled(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(seconds float64) int64 { return int64(seconds * 1e9) }
	cases := []struct {
		s    FileStat
		want bool
	}{
		{FileStat{Ino: 1, Mtime: at(959), Ctime: at(959)}, true},
		{FileStat{Ino: 1, Mtime: at(961), Ctime: at(959)}, false},
		{FileStat{Ino: 1, Mtime: at(959), Ctime: at(961)}, false},
		{FileStat{Ino: 1, Mtime: at(2000), Ctime: at(959)}, false},
		{FileStat{Ino: 1, Mtime: at(959)}, false},
		{FileStat{Mtime: at(959), Ctime: at(959)}, false},
	}
	for _, c := range cases {
		if got := c.s.Settled(now); got != c.want {
			t.Errorf("%+v: %v, want %v", c.s, got, c.want)
		}
	}
}

// TestChangingFile writes to the file from the clock, which is called between stat and read.
func TestChangingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "a")
	text := "a"
	reads := 0
	grow := func(times int) func() time.Time {
		reads = 0
		return func() time.Time {
			if reads++; reads <= times {
				text += "b"
				write(t, path, text)
			}
			return time.Now()
		}
	}
	d, s, err := fileDigester{now: grow(2)}.digest(t.Context(), path)
	if err != nil || d != DigestOf([]byte(text)) || s.Size != int64(len(text)) || reads != 3 {
		t.Errorf("%v, %v, %v after %d reads", d, s, err, reads)
	}
	_, _, err = fileDigester{now: grow(100)}.digest(t.Context(), path)
	if !errors.Is(err, ErrChanging) || !strings.Contains(err.Error(), path) || reads != attempts {
		t.Errorf("error %v after %d reads", err, reads)
	}
}

func TestCancel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := DigestFile(ctx, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	endless := &cancelling{after: 3, cancel: cancel}
	if _, n, err := digestReader(ctx, endless); !errors.Is(err, context.Canceled) || n != 3*chunkBytes {
		t.Errorf("error %v after %d bytes", err, n)
	}
}

// cancelling is an endless reader that cancels in its last chunk.
type cancelling struct {
	after  int
	cancel func()
}

func (c *cancelling) Read(p []byte) (int, error) {
	if c.after--; c.after == 0 {
		c.cancel()
	}
	return len(p), nil
}

func TestReadError(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("a"), errorReader{})
	if d, _, err := digestReader(t.Context(), broken); !errors.Is(err, errNo) || !d.IsZero() {
		t.Errorf("%v, %v", d, err)
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errNo }

func TestMemoIsBounded(t *testing.T) {
	const files = 100
	m := NewMemo(files)
	hot := FileStat{Ino: 1 << 40}
	m.Store(hot, DigestOf(nil))
	for i := range 10 * files {
		m.Store(FileStat{Ino: uint64(i)}, DigestOf([]byte{byte(i)}))
		if _, ok := m.Load(hot); !ok {
			t.Fatal("what is in use is forgotten")
		}
	}
	left := 0
	for i := range 10 * files {
		if d, ok := m.Load(FileStat{Ino: uint64(i)}); ok {
			left++
			if d != DigestOf([]byte{byte(i)}) {
				t.Error("the digest of another file")
			}
		}
		if held := len(m.(*memo).young) + len(m.(*memo).old); held > files {
			t.Fatalf("%d files held", held)
		}
	}
	if left < files/3 {
		t.Errorf("only %d of %d are left", left, files)
	}
}

func TestMemoConcurrency(t *testing.T) {
	m := NewMemo(8)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				s := FileStat{Ino: uint64(i % 20)}
				want := DigestOf([]byte{byte(i % 20)})
				if d, ok := m.Load(s); ok && d != want {
					t.Errorf("goroutine %d: the digest of another file", g)
				}
				m.Store(s, want)
			}
		})
	}
	wg.Wait()
}

func BenchmarkDigestFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a")
	if err := os.WriteFile(path, make([]byte, 16<<10), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, memo := range map[string]Memo{"Read16KiB": nil, "Memo": NewMemo(10)} {
		b.Run(name, func(b *testing.B) {
			f := fileDigester{memo, after(time.Minute), always}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := f.digest(b.Context(), path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func always(string, FileStat) bool { return true }
