package codec

import (
	"reflect"
	"unsafe"
)

// planInterface encodes an interface as null if it is nil, otherwise as an array of its
// type and value. A type is text at its first occurrence, then its number. A copy that
// several interfaces share is written once.
func (m *planner) planInterface(p *plan, path string) error {
	if !implemented(p.typ) {
		return &UnencodableError{Path: path, What: "an interface", Type: p.typ,
			Fix: "use a concrete type, or register the possible types with codec.RegisterType"}
	}
	p.write = func(w *cborWriter, v reflect.Value) error {
		if v.IsNil() {
			w.null()
			return nil
		}
		t := v.Elem().Type()
		step := ".(" + t.String() + ")"
		inner, err := planBehind(t)
		if err != nil {
			return within(err, step)
		}
		if boxed(t) && w.again((*[2]unsafe.Pointer)(v.Addr().UnsafePointer())[1], 0, t) {
			return nil
		}
		if err := w.enter(p.typ); err != nil {
			return err
		}
		defer w.leave()
		w.head(majorArray, 2)
		if err := w.typeOf(t); err != nil {
			return within(err, step)
		}
		concrete := reflect.New(t).Elem()
		concrete.Set(v.Elem())
		return within(inner.write(w, concrete), step)
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() || r.again(v) {
			return
		}
		r.exactly(2)
		t := r.typeOf()
		if !r.enter() {
			return
		}
		defer r.leave()
		if !t.Implements(p.typ) {
			r.fail("a %v behind a %v", t, p.typ)
			return
		}
		inner, err := planBehind(t)
		if err != nil {
			r.fail("%v", err)
			return
		}
		part := len(r.parts)
		if boxed(t) {
			r.part(reflect.Value{})
		}
		concrete := reflect.New(t).Elem()
		if inner.read(r, concrete); r.err != nil {
			return
		}
		box := reflect.ValueOf(concrete.Interface()) // copied here, not again at each reference
		if boxed(t) && !r.apart {
			r.parts[part] = box
		}
		v.Set(box)
	}
	return nil
}

// boxed reports whether an interface may hold a large copy of a t, rather than a pointer to
// it.
func boxed(t reflect.Type) bool { return t.Kind() == reflect.Struct || t.Kind() == reflect.Array }
