package key

import (
	"encoding"
	"encoding/binary"
	"reflect"
	"unsafe"
)

func encodeKeyer(t reflect.Type) func(*encoder, unsafe.Pointer) error {
	return func(e *encoder, p unsafe.Pointer) error {
		v := reflect.NewAt(t, p).Interface().(Keyer)
		// The encoding goes behind room for its length. The method gets only
		// the free end of the buffer: it cannot reach what is before.
		at := len(e.buf)
		e.uint64(0)
		start := len(e.buf)
		out, err := v.AppendKey(e.buf[start:start])
		if err != nil {
			return &UnkeyableError{Type: t, Reason: "AppendKey failed", Err: err}
		}
		e.buf = append(e.buf, out...)
		binary.LittleEndian.PutUint64(e.buf[at:], uint64(len(out)))
		e.spill()
		return nil
	}
}

func encodeMarshaler(t reflect.Type) func(*encoder, unsafe.Pointer) error {
	return func(e *encoder, p unsafe.Pointer) error {
		v := reflect.NewAt(t, p).Interface().(encoding.BinaryMarshaler)
		b, err := v.MarshalBinary()
		if err != nil {
			return &UnkeyableError{Type: t, Reason: "MarshalBinary failed", Err: err}
		}
		e.uint64(uint64(len(b)))
		e.raw(b)
		return nil
	}
}
