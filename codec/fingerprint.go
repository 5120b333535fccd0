package codec

import (
	"fmt"
	"reflect"

	"github.com/zeebo/xxh3"
)

// fingerprint identifies the encoding and all types that t reaches.
func fingerprint(id string, t reflect.Type) uint64 {
	d := describer{seen: make(map[reflect.Type]int)}
	d.text = append(append(d.text, id...), ' ')
	d.describe(t)
	return xxh3.Hash(d.text)
}

// A describer writes types as text, each named one once.
type describer struct {
	text []byte
	seen map[reflect.Type]int
}

func (d *describer) describe(t reflect.Type) {
	if t.Name() != "" {
		if n, ok := d.seen[t]; ok {
			d.printf("#%d", n)
			return
		}
		d.seen[t] = len(d.seen)
		d.printf("%q.%q=", t.PkgPath(), t.Name())
	}
	d.printf("%v", t.Kind())
	switch t.Kind() {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		d.printf("%d", t.Bits())
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		d.element(t.Elem())
	case reflect.Array:
		d.printf("%d", t.Len())
		d.element(t.Elem())
	case reflect.Map:
		d.element(t.Key())
		d.element(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			d.printf(" %q %v", f.Name, f.Anonymous)
			d.element(f.Type)
		}
	case reflect.Interface:
		for m := range t.Methods() {
			d.printf(" %q", m.Name)
		}
	}
}

func (d *describer) element(t reflect.Type) {
	d.text = append(d.text, '(')
	d.describe(t)
	d.text = append(d.text, ')')
}

func (d *describer) printf(format string, args ...any) {
	d.text = fmt.Appendf(d.text, format, args...)
}
