package blockcache_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// bounded opens a cache directory bounded to n bytes, without memory.
func bounded(t *testing.T, most int64) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Dir: t.TempDir(), MemoryBytes: -1, MaxBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// reads reads n bytes at each position and checks them.
func reads(t *testing.T, f *blockcache.File, want []byte, n int, places ...int) {
	t.Helper()
	b := make([]byte, n)
	for _, at := range places {
		if err := f.ReadAt(t.Context(), b, int64(at)); err != nil || !bytes.Equal(b, want[at:at+n]) {
			t.Fatalf("%d bytes at %d: %v", n, at, err)
		}
	}
}

const sample = 8 << 10

// samples returns the positions of the samples of a file of n bytes.
func samples(size int) []int {
	all := make([]int, size/sample)
	for i := range all {
		all[i] = i * sample
	}
	return all
}

// TestAhead checks that sequential reads prefetch twice as much each time.
func TestAhead(t *testing.T) {
	want := content(size)
	s := objectstoretest.Serve(t)
	f := keep(t, s.Put("a", want), bounded(t, 3<<20)) // holds less than two extents
	s.Requests()
	reads(t, f, want, sample, samples(size)...)
	asked := []string{span(0, 0), span(1, 2), span(3, 6), span(7, 14), span(15, 30), span(31, 40)}
	if r := ranges(s); fmt.Sprint(r) != fmt.Sprint(asked) {
		t.Errorf("requested %v, want %v", r, asked)
	}
}

// TestExtents checks that reads in any order within a window take few requests, each byte
// once.
func TestExtents(t *testing.T) {
	want := content(128 * blockcache.Bytes) // four extents
	s := objectstoretest.Serve(t)
	f := keep(t, s.Put("a", want), bounded(t, 64<<20))
	s.Requests()
	at := samples(len(want))
	testrand.New(t).Shuffle(len(at), func(i, k int) { at[i], at[k] = at[k], at[i] })
	before := s.Sent()
	reads(t, f, want, sample, at...)
	if r := ranges(s); len(r) > 4*10 {
		t.Errorf("%d requests for four extents: %v", len(r), r)
	}
	if n := s.Sent() - before; n > int64(len(want))*5/4 {
		t.Errorf("%d bytes were sent of %d", n, len(want))
	}
}

// TestGone checks reads in any order over much more than the store holds. Evicted bytes are
// fetched as requested, not in blocks, and the rest stays stored.
func TestGone(t *testing.T) {
	want := content(256 * blockcache.Bytes)
	s := objectstoretest.Serve(t)
	f := keep(t, s.Put("a", want), bounded(t, 2<<20))
	at := samples(len(want))
	random := testrand.New(t)
	var sent [3]int64
	for epoch := range sent {
		random.Shuffle(len(at), func(i, k int) { at[i], at[k] = at[k], at[i] })
		before := s.Sent()
		reads(t, f, want, sample, at...)
		sent[epoch] = s.Sent() - before
		s.Requests()
	}
	size := int64(len(want))
	if sent[0] > 9*size/4 || sent[1] > 5*size/4 || sent[2] > 5*size/4 {
		t.Errorf("%v bytes were sent in three epochs of %d bytes", sent, size)
	}
}

// TestNextTo checks that the adjacent items of a sample take one request in this case, too.
func TestNextTo(t *testing.T) {
	want := content(256 * blockcache.Bytes)
	s := objectstoretest.Serve(t)
	f := keep(t, s.Put("a", want), bounded(t, 2<<20))
	at := samples(len(want))
	read := func() {
		testrand.New(t).Shuffle(len(at), func(i, k int) { at[i], at[k] = at[k], at[i] })
		for _, at := range at { // an image, followed by a label
			reads(t, f, want, 5<<10, at)
			reads(t, f, want, 7, at+6<<10)
		}
	}
	read()
	s.Requests()
	read()
	if r := ranges(s); len(r) > len(at)*11/10 {
		t.Errorf("%d requests for %d samples", len(r), len(at))
	}
}

// TestMissesAndHits checks that concurrent reads in several orders from a small store
// return the right bytes.
func TestMissesAndHits(t *testing.T) {
	want := content(200*blockcache.Bytes + 99)
	s := objectstoretest.Serve(t)
	f := keep(t, s.Put("a", want), bounded(t, 2<<20))
	random := testrand.New(t)
	for i := range 4 {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			at := own.IntN(len(want))
			for range 300 {
				if own.IntN(20) == 0 {
					at = own.IntN(len(want)) // and continues from about there
				}
				n := own.IntN(min(len(want)-at, 2*blockcache.Bytes) + 1)
				reads(t, f, want, n, at)
				at = min(at+own.IntN(n+100), len(want)-1)
			}
		})
	}
}
