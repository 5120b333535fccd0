package codec

import (
	"reflect"
	"strconv"
)

// planStruct encodes a struct as an array of its fields in their order. Names are part of
// the type's fingerprint only. Tags are ignored.
func (m *planner) planStruct(p *plan, path string) error {
	type field struct {
		index int
		plan  *plan
	}
	var fields []field
	p.plain, p.key = true, true
	for i := range p.typ.NumField() {
		f := p.typ.Field(i)
		if f.Name == "_" {
			continue // padding and markers, which code cannot read
		}
		at := path + "." + f.Name
		if !f.IsExported() && (!f.Anonymous || f.Type.Kind() != reflect.Struct) {
			return &UnencodableError{Path: at, What: "an unexported field", Type: f.Type,
				Fix: "export it, give " + strconv.Quote(rootName(p.typ)) + " methods MarshalBinary and UnmarshalBinary, or return a type that holds only the data"}
		}
		fp, err := m.plan(at, f.Type)
		if err != nil {
			return err
		}
		fields = append(fields, field{i, fp})
		p.least += fp.least
		p.plain = p.plain && fp.plain
		p.key = p.key && fp.key
	}
	p.write = func(w *cborWriter, v reflect.Value) error {
		w.head(majorArray, uint64(len(fields)))
		for _, f := range fields {
			if err := f.plan.write(w, open(v.Field(f.index))); err != nil {
				return within(err, "."+p.typ.Field(f.index).Name)
			}
		}
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		r.exactly(len(fields))
		for _, f := range fields {
			if r.err != nil {
				return
			}
			f.plan.read(r, open(v.Field(f.index)))
		}
	}
	if bytesPerPixel[p.typ] > 0 {
		planImage(p)
	}
	return nil
}

// open returns a field with full access, because the name of an embedded struct may be
// unexported.
func open(f reflect.Value) reflect.Value {
	if f.CanInterface() {
		return f
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}
