//go:build unix

package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
)

// TestEagerReader checks that eager reads equal ordinary ones: parts as they arrive, an
// end, a closed file.
func TestEagerReader(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, err := newEagerReader(from)
	if err != nil {
		t.Fatal(err)
	}
	want, got := []byte{}, []byte{}
	part := make([]byte, 10)
	for i := range 100 {
		if i%3 > 0 {
			r.hasten()
		}
		sent := bytes.Repeat([]byte{byte(i)}, i%9+1)
		want = append(want, sent...)
		written := make(chan error, 1)
		go func() { // before or after the read
			_, err := to.Write(sent)
			written <- err
		}()
		for range len(sent) {
			n, err := r.Read(part[:1])
			if err != nil || n != 1 {
				t.Fatal(n, err)
			}
			got = append(got, part[0])
			r.hasten()
		}
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	r.hasten()
	if n, err := r.Read(part); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if err := from.Close(); err != nil {
		t.Fatal(err)
	}
	r.hasten()
	if _, err := r.Read(part); !errors.Is(err, os.ErrClosed) {
		t.Errorf("of a closed file: %v", err)
	}
}
