package codec

import "reflect"

// planScalar fills in the plan of a bool, a number or a string, and reports
// whether p is for one.
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
		p.write = func(w *cborWriter, v reflect.Value) error { w.float32(float32(v.Float())); return nil }
		p.read = func(r *cborReader, v reflect.Value) { v.SetFloat(float64(r.float32())) }
	case reflect.Float64:
		p.write = func(w *cborWriter, v reflect.Value) error { w.float64(v.Float()); return nil }
		p.read = func(r *cborReader, v reflect.Value) { v.SetFloat(r.float64()) }
	case reflect.Complex64, reflect.Complex128:
		p.write = func(w *cborWriter, v reflect.Value) error {
			w.head(majorArray, 2)
			w.float64(real(v.Complex()))
			w.float64(imag(v.Complex()))
			return nil
		}
		p.read = func(r *cborReader, v reflect.Value) {
			r.exactly(2)
			re, im := r.float64(), r.float64()
			v.SetComplex(complex(re, im))
		}
	case reflect.String:
		p.write = func(w *cborWriter, v reflect.Value) error { w.string(v.String()); return nil }
		p.read = func(r *cborReader, v reflect.Value) { v.SetString(r.string()) }
	default:
		p.plain, p.key = false, false
	}
	return p.plain
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
