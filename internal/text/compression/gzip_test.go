package compression_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"testing/iotest"

	"github.com/larder-data/larder/internal/text/compression"
)

// TestBehindGzip checks that members may follow each other, with or without zeros between
// and after them. Other bytes there are an error, and so is a cut member.
func TestBehindGzip(t *testing.T) {
	member := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(text))
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	a, empty, zeros := member("one "), member(""), make([]byte, 100_000)
	for name, c := range map[string]struct {
		packed [][]byte
		want   string
		ok     bool
	}{
		"one": {[][]byte{a}, "one ", true}, "two": {[][]byte{a, empty, a}, "one one ", true},
		"zeros": {[][]byte{a, zeros}, "one ", true}, "a zero": {[][]byte{a, {0}}, "one ", true},
		"between": {[][]byte{a, zeros, a, zeros[:512]}, "one one ", true},
		"garbage": {[][]byte{a, []byte("x")}, "one ", false}, "garbage behind zeros": {[][]byte{a, zeros, []byte("x")}, "one ", false},
		"a header": {[][]byte{a, a[:5]}, "one ", false}, "cut off": {[][]byte{a, a[:len(a)-1]}, "one one ", false},
		"zeros alone": {[][]byte{zeros}, "", false},
	} {
		for _, slow := range []bool{false, true} {
			var in io.Reader = bytes.NewReader(bytes.Join(c.packed, nil))
			if slow {
				in = iotest.HalfReader(in)
			}
			var got []byte
			r, err := compression.Reader("a.gz", in)
			if err == nil {
				got, err = io.ReadAll(r)
			}
			if (err == nil) != c.ok || string(got) != c.want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
}
