package codec

import (
	"reflect"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// mixed returns an error if values that encode themselves share memory with other parts:
// decoding would duplicate it.
func (w *cborWriter) mixed(t reflect.Type) error {
	if !w.opaque.Any() {
		return nil
	}
	for p := range w.seen {
		switch p.typ.Kind() {
		case reflect.Pointer:
			w.opaque.Outside(uintptr(p.at), p.typ.Elem().Size())
		case reflect.Slice:
			w.opaque.Outside(uintptr(p.at), uintptr(p.len)*p.typ.Elem().Size())
		case reflect.Map:
			w.opaque.Outside(uintptr(p.at), 1)
		}
	}
	if w.opaque.Lost() {
		return &UnencodableError{What: "memory shared with a value that marshals itself", Type: t,
			Fix: "copy the memory, or use types with exported fields"}
	}
	return nil
}

// planMarshaler encodes a value with its own method, if decoding restores it.
func planMarshaler(p *plan, method deepequal.Marshaler) {
	p.key = true // as far as the type's own methods ensure it
	p.write = func(w *cborWriter, v reflect.Value) error {
		b, err := method.BytesShared(v.Addr(), &w.opaque)
		if err != nil {
			return &UnencodableError{What: "a value", Type: p.typ, Err: err,
				Fix: "return a type with exported fields that hold the data, or correct " + method.Name}
		}
		w.bytes(b)
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		b := r.bytes()
		if r.err != nil {
			return
		}
		if err := method.Value(v.Addr(), b); err != nil {
			r.fail("%v", err)
		}
	}
}
