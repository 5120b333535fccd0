package key

import (
	"bytes"
	"encoding/binary"
	"image"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/larder-data/larder/internal/values/deepequal"
)

var (
	keyers = deepequal.Ability{Interface: reflect.TypeFor[Keyer](), Method: func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("AppendKey")
	}}
	images = deepequal.Ability{Interface: reflect.TypeFor[image.Image](), Method: func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("At")
	}}
)

// twice encodes a value a second time when its type first occurs. It detects encodings
// that depend on randomness, an address or the time. Those could encode one value in
// two ways, or two values in the same way.
func twice(checked *atomic.Bool, t reflect.Type, method string, first []byte, again func() ([]byte, error)) error {
	if checked.Load() {
		return nil
	}
	second, err := again()
	if err != nil || !bytes.Equal(first, second) {
		return &UnkeyableError{
			Type: t, Reason: method + " did not give the same twice for one value", Err: err,
			Fix: "make it depend on the value alone",
		}
	}
	checked.Store(true)
	return nil
}

func encodeKeyer(t reflect.Type) func(*encoder, unsafe.Pointer) error {
	var checked atomic.Bool
	return func(e *encoder, p unsafe.Pointer) error {
		e.uses(t, "AppendKey")
		v := reflect.NewAt(t, p).Interface().(Keyer)
		// The encoding follows 8 bytes for its length. The method gets only the free
		// end of the buffer and cannot reach what is before.
		at := len(e.buf)
		e.uint64(0)
		start := len(e.buf)
		out, err := v.AppendKey(e.buf[start:start])
		if err != nil {
			return &UnkeyableError{Type: t, Reason: "AppendKey failed", Err: err}
		}
		if err := twice(&checked, t, "AppendKey", out, func() ([]byte, error) { return v.AppendKey(nil) }); err != nil {
			return err
		}
		e.buf = append(e.buf, out...)
		binary.LittleEndian.PutUint64(e.buf[at:], uint64(len(out)))
		e.spill()
		return nil
	}
}

// encodeMarshaler encodes values as the bytes of their marshal method, if decoding
// these returns the value. Then no two values have the same bytes.
func encodeMarshaler(m deepequal.Marshaler, t reflect.Type) func(*encoder, unsafe.Pointer) error {
	var checked atomic.Bool
	return func(e *encoder, p unsafe.Pointer) error {
		e.uses(t, m.Name)
		at := reflect.NewAt(t, p)
		b, err := e.bytesOf(m, at)
		if err != nil {
			return &UnkeyableError{Type: t, Reason: "its " + m.Name + " does not distinguish it from every other value", Err: err, Fix: fixKeyer}
		}
		if err := twice(&checked, t, m.Name, b, func() ([]byte, error) { return m.Bytes(at) }); err != nil {
			return err
		}
		e.uint64(uint64(len(b)))
		e.raw(b)
		return nil
	}
}
