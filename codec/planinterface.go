package codec

import (
	"fmt"
	"image"
	"image/color"
	"reflect"
)

// behind lists, for interfaces that can be restored, the types that may be
// behind them. A type is kept as its place in the list: new ones go to the
// end, and none is ever taken out.
var behind = map[reflect.Type][]reflect.Type{
	reflect.TypeFor[any](): {
		reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](),
		reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](),
	},
	reflect.TypeFor[image.Image](): {
		reflect.TypeFor[*image.RGBA](), reflect.TypeFor[*image.NRGBA](), reflect.TypeFor[*image.Gray](), reflect.TypeFor[*image.YCbCr](),
		reflect.TypeFor[*image.RGBA64](), reflect.TypeFor[*image.NRGBA64](), reflect.TypeFor[*image.Gray16](), reflect.TypeFor[*image.NYCbCrA](),
		reflect.TypeFor[*image.Paletted](), reflect.TypeFor[*image.CMYK](), reflect.TypeFor[*image.Alpha](), reflect.TypeFor[*image.Alpha16](),
		reflect.TypeFor[*image.Uniform](),
	},
	reflect.TypeFor[color.Color](): {
		reflect.TypeFor[color.RGBA](), reflect.TypeFor[color.NRGBA](), reflect.TypeFor[color.Gray](), reflect.TypeFor[color.YCbCr](),
		reflect.TypeFor[color.RGBA64](), reflect.TypeFor[color.NRGBA64](), reflect.TypeFor[color.Gray16](), reflect.TypeFor[color.NYCbCrA](),
		reflect.TypeFor[color.CMYK](), reflect.TypeFor[color.Alpha](), reflect.TypeFor[color.Alpha16](),
	},
}

// planInterface keeps an interface as null if it is nil, or as an array of the
// place of its type and the value.
func (m *planner) planInterface(p *plan, path string) error {
	types, ok := behind[p.typ]
	if !ok {
		return &UnencodableError{path, "an interface", p.typ, "use a concrete type: what is behind the interface would not be known again"}
	}
	plans := make([]*plan, len(types))
	place := make(map[reflect.Type]int, len(types))
	for i, t := range types {
		place[t] = i
		var err error
		if plans[i], err = m.plan(path, t); err != nil {
			return err
		}
	}
	p.write = func(w *cborWriter, v reflect.Value) error {
		if v.IsNil() {
			w.null()
			return nil
		}
		i, ok := place[v.Elem().Type()]
		if !ok {
			return &UnencodableError{path, fmt.Sprintf("behind the interface %v a value", p.typ), v.Elem().Type(), "use a concrete type instead of the interface"}
		}
		w.head(majorArray, 2)
		w.head(majorUint, uint64(i))
		concrete := reflect.New(types[i]).Elem()
		concrete.Set(v.Elem())
		return plans[i].write(w, concrete)
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() {
			return
		}
		r.exactly(2)
		i := r.uint()
		if i >= uint64(len(plans)) {
			r.fail("unknown type behind a %v", p.typ)
			return
		}
		concrete := reflect.New(types[i]).Elem()
		if plans[i].read(r, concrete); r.err == nil {
			v.Set(concrete)
		}
	}
	return nil
}
