package objectstore_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// TestStream checks that streaming a file takes few requests, and that large skipped parts are not fetched.
func TestStream(t *testing.T) {
	want := content(20 << 20)
	s := objectstoretest.Serve(t)
	f := open(t, s.Put("a", want))
	for name, c := range map[string]struct {
		piece, step int
		requests    int
		bytes       int64 // at most
	}{
		"all":         {4 << 10, 4 << 10, 7, int64(len(want))}, // 16 KiB, then four times as much each time
		"small jumps": {512, 100_000, 7, int64(len(want))},
		"large jumps": {512, 2 << 20, 10, 10 * 64 << 10},
		"large reads": {3 << 20, 3 << 20, 4, int64(len(want))},
	} {
		s.Requests()
		var traffic objectstore.Traffic
		in := f.Stream(objectstore.Count(t.Context(), &traffic))
		b := make([]byte, c.piece)
		for at := 0; at < len(want); at += c.step {
			n, err := in.ReadAt(b, int64(at))
			if end := min(len(want), at+c.piece); err != nil && (!errors.Is(err, io.EOF) || end-at == c.piece) || !bytes.Equal(b[:n], want[at:end]) {
				t.Fatalf("%s: %d bytes at %d, %v", name, n, at, err)
			}
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Requests()); n > c.requests || traffic.Bytes.Load() > c.bytes {
			t.Errorf("%s: %d requests, want %d, and %d bytes, want %d at most", name, n, c.requests, traffic.Bytes.Load(), c.bytes)
		}
	}
	if n, err := f.Stream(t.Context()).ReadAt(make([]byte, 10), int64(len(want))-3); n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v", n, err)
	}
}
