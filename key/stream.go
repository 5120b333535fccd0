package key

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"
)

// HashContents writes to h in pieces what [encodeContents] appends. In a map, a slice
// or a struct an interface may hold a [Stream] in place of bytes.
func HashContents(h hash.Hash, v any) error {
	e := newEncoder(layerValue)
	own := e.hash
	e.apart, e.hash = true, h
	defer func() { // the caller owns h
		e.hash, e.spilled = own, false
		e.free()
	}()
	err := e.root(v)
	if err == nil {
		err = e.unmixed()
	}
	e.flush()
	return err
}

// A Stream is encoded as the []byte that Open reads.
type Stream struct {
	Size int64
	Open func() (io.ReadCloser, error)
}

// stream hashes what it reads without storing it.
func (e *encoder) stream(s Stream) (err error) {
	if !e.streams {
		return &UnkeyableError{Type: reflect.TypeFor[Stream](), Reason: "stream can be hashed, but not encoded", Fix: "read it"}
	}
	p, err := planOf(reflect.TypeFor[[]byte]())
	if err != nil {
		return err
	}
	e.buf = append(e.buf, p.header...)
	e.length(int(s.Size) + 1)
	e.flush()
	r, err := s.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	n, err := io.Copy(e.hash, r)
	if err == nil && n != s.Size {
		err = fmt.Errorf("key: a stream of %d bytes had %d", s.Size, n)
	}
	return err
}
