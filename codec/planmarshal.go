package codec

import (
	"reflect"

	"github.com/larder-data/larder/internal/marshal"
)

// planMarshaler keeps a value as the bytes it makes of itself, if these bring
// it back.
func planMarshaler(p *plan, method marshal.Method) {
	p.key = true // as far as the type's own methods go
	p.write = func(w *cborWriter, v reflect.Value) error {
		b, err := method.Bytes(v.Addr())
		if err != nil {
			return &UnencodableError{What: "a value", Type: p.typ, Err: err,
				Cure: "return a type with exported fields that hold the data, or correct " + method.Name}
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
