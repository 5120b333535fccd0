package codec

import (
	"encoding"
	"encoding/gob"
	"fmt"
	"reflect"
)

// marshalsItself reports whether values of t turn themselves into bytes and
// back. A struct that embeds such a type has its methods, which know nothing
// of its other fields, so it does not count.
func marshalsItself(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface || !hasMarshaler(t) {
		return false
	}
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			if f.Anonymous && hasMarshaler(f.Type) {
				return false
			}
		}
	}
	return true
}

func hasMarshaler(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer {
		t = reflect.PointerTo(t)
	}
	return marshalsBinary(t) || marshalsGob(t)
}

func marshalsBinary(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) && t.Implements(reflect.TypeFor[encoding.BinaryUnmarshaler]())
}

func marshalsGob(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[gob.GobEncoder]()) && t.Implements(reflect.TypeFor[gob.GobDecoder]())
}

// planMarshaler keeps a value as the bytes it makes of itself.
func planMarshaler(p *plan) {
	p.key = true // as far as the type's own methods go
	binary := marshalsBinary(reflect.PointerTo(p.typ))
	p.write = func(w *cborWriter, v reflect.Value) (err error) {
		var b []byte
		if at := v.Addr().Interface(); binary {
			b, err = at.(encoding.BinaryMarshaler).MarshalBinary()
		} else {
			b, err = at.(gob.GobEncoder).GobEncode()
		}
		if err != nil {
			return fmt.Errorf("codec: marshal a %v: %w", p.typ, err)
		}
		w.bytes(b)
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		b := append([]byte{}, r.bytes()...) // it may keep its argument
		if r.err != nil {
			return
		}
		var err error
		if at := v.Addr().Interface(); binary {
			err = at.(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
		} else {
			err = at.(gob.GobDecoder).GobDecode(b)
		}
		if err != nil {
			r.fail("unmarshal a %v: %v", p.typ, err)
		}
	}
}
