package codec

import (
	"reflect"
	"unsafe"
)

// planScalar fills in the plan of a bool, number or string. It returns false for other
// types.
func planScalar(p *plan) bool {
	p.plain, p.key = true, true
	switch p.typ.Kind() {
	case reflect.Bool:
		p.write = func(w *cborWriter, v reflect.Value) error { w.bool(v.Bool()); return nil }
		p.read = func(r *cborReader, v reflect.Value) { v.SetBool(r.bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.write = func(w *cborWriter, v reflect.Value) error { w.int(v.Int()); return nil }
		p.read = readInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.write = func(w *cborWriter, v reflect.Value) error { w.head(majorUint, v.Uint()); return nil }
		p.read = readUint
	case reflect.Float32:
		p.write = func(w *cborWriter, v reflect.Value) error { w.float32(*word[uint32](v)); return nil }
		p.read = func(r *cborReader, v reflect.Value) { *word[uint32](v) = r.float32() }
	case reflect.Float64:
		p.write = func(w *cborWriter, v reflect.Value) error { w.float64(*word[uint64](v)); return nil }
		p.read = func(r *cborReader, v reflect.Value) { *word[uint64](v) = r.float64() }
	case reflect.Complex64:
		p.write = func(w *cborWriter, v reflect.Value) error {
			w.head(majorArray, 2)
			w.float32(word[[2]uint32](v)[0])
			w.float32(word[[2]uint32](v)[1])
			return nil
		}
		p.read = func(r *cborReader, v reflect.Value) {
			r.exactly(2)
			*word[[2]uint32](v) = [2]uint32{r.float32(), r.float32()}
		}
	case reflect.Complex128:
		p.write = func(w *cborWriter, v reflect.Value) error {
			w.head(majorArray, 2)
			w.float64(word[[2]uint64](v)[0])
			w.float64(word[[2]uint64](v)[1])
			return nil
		}
		p.read = func(r *cborReader, v reflect.Value) {
			r.exactly(2)
			*word[[2]uint64](v) = [2]uint64{r.float64(), r.float64()}
		}
	case reflect.String:
		p.write, p.read = writeString, readString
	default:
		p.plain, p.key = false, false
	}
	return p.plain
}

// word returns a pointer to the memory of a number.
func word[T any](v reflect.Value) *T { return (*T)(v.Addr().UnsafePointer()) }

// longString is the length from which a repeated string is written as a reference: a short
// one takes no more than the reference.
const longString = 64

func writeString(w *cborWriter, v reflect.Value) error {
	s := v.String()
	if len(s) < longString || !w.again(unsafe.Pointer(unsafe.StringData(s)), len(s), v.Type()) {
		w.string(s)
	}
	return nil
}

func readString(r *cborReader, v reflect.Value) {
	if r.again(v) {
		return
	}
	s := r.string()
	if v.SetString(s); len(s) >= longString {
		r.part(v)
	}
}

func readInt(r *cborReader, v reflect.Value) {
	n := r.int()
	if v.OverflowInt(n) {
		r.fail("%d overflows a %v", n, v.Type())
		return
	}
	v.SetInt(n)
}

func readUint(r *cborReader, v reflect.Value) {
	n := r.uint()
	if v.OverflowUint(n) {
		r.fail("%d overflows a %v", n, v.Type())
		return
	}
	v.SetUint(n)
}
