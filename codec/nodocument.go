package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"image"
	"reflect"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/display"
)

// noDocument refuses values that belong in another format: arrays, images and tables, of
// which JSON and YAML would write the internal fields.
func noDocument(name string, v any) error {
	if t := noDocumentIn(reflect.TypeOf(v), map[reflect.Type]bool{}); t != nil {
		return fmt.Errorf("%s: %s cannot be written; use npy or npz for arrays, png or tiff for images, csv for tables", name, display.Value(reflect.Zero(t).Interface()))
	}
	return nil
}

// noDocumentIn returns the type of such a value within a t, nil if there is none.
func noDocumentIn(t reflect.Type, seen map[reflect.Type]bool) reflect.Type {
	if t == nil || seen[t] || writesItself(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return noDocumentIn(t.Elem(), seen)
	case reflect.Struct:
		if isForeign(t) {
			return t
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() || f.Anonymous {
				if found := noDocumentIn(f.Type, seen); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// isForeign reports whether a structure is an array, a table, or an image type of the
// packages that decoders use.
func isForeign(t reflect.Type) bool {
	if t == reflect.TypeFor[array.Array]() || t == reflect.TypeFor[Table]() {
		return true
	}
	known := t.PkgPath() == reflect.TypeFor[array.Array]().PkgPath() || t.PkgPath() == reflect.TypeFor[image.RGBA]().PkgPath()
	return known && reflect.PointerTo(t).Implements(reflect.TypeFor[image.Image]()) && t != reflect.TypeFor[image.Rectangle]() // a bound of image.Image
}

// writesItself reports whether a type has its own encoding methods.
func writesItself(t reflect.Type) bool {
	for _, way := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(way) || reflect.PointerTo(t).Implements(way) {
			return true
		}
	}
	return false
}
