package key

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/larder-data/larder/internal/values/executable"
)

// A description is a string that distinguishes a type from every other: its name and
// its structure. It describes a named type at the first occurrence, and later refers to
// it by number.
type description struct {
	text     []byte
	plans    map[reflect.Type]*plan
	named    map[reflect.Type]int
	namesake reflect.Type // a type that its name does not identify
}

func (d *description) write(words ...string) {
	for _, w := range words {
		d.text = append(d.text, w...)
	}
}

func (d *description) describe(t reflect.Type) {
	if t.Name() != "" {
		if n, ok := d.named[t]; ok {
			d.write("^", strconv.Itoa(n))
			return
		}
		d.named[t] = len(d.named)
		if t.PkgPath() != "" && d.namesake == nil && (strings.Contains(t.Name(), "·") || executable.HasNamesake(t.PkgPath(), t.Name())) {
			d.namesake = t
		}
		d.write(strconv.Quote(t.PkgPath()), ".", strconv.Quote(t.Name()), " ")
	}
	if p := d.plans[t]; p != nil && p.opaque != "" {
		d.write(p.opaque)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		d.write("*")
		d.describe(t.Elem())
	case reflect.Slice:
		d.write("[]")
		d.describe(t.Elem())
	case reflect.Array:
		d.write("[", strconv.Itoa(t.Len()), "]")
		d.describe(t.Elem())
	case reflect.Map:
		d.write("map[")
		d.describe(t.Key())
		d.write("]")
		d.describe(t.Elem())
	case reflect.Struct:
		d.fields(t)
	case reflect.Interface:
		if t.Name() == "" {
			d.write(strconv.Quote(t.String()))
		}
		d.write("interface") // its values carry their own types
	default:
		d.write(t.Kind().String())
	}
}

func (d *description) fields(t reflect.Type) {
	d.write("struct{")
	for f := range fieldsOf(t) {
		if t.Name() == "" { // the name is not the whole type
			d.write(f.Type.String(), " ", strconv.Quote(string(f.Tag)), " ")
		}
		if excluded(f) {
			continue
		}
		d.write(strconv.Quote(f.Name), " ")
		if f.Anonymous {
			d.write("embedded ")
		}
		d.describe(f.Type)
		d.write(";")
	}
	d.write("}")
}
