package dataset

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/text/display"
)

// document fills Go values from the values of items.
type document struct {
	tag string // struct tag that names fields: json or yaml
}

// fill sets target from v, the value at the path.
func (d document) fill(target reflect.Value, v any, path string) error {
	if v == nil {
		target.SetZero()
		return nil
	}
	if rv := reflect.ValueOf(v); rv.Type().AssignableTo(target.Type()) {
		target.Set(rv)
		return nil
	}
	if converted, err := fillPixels(target, v); converted || err != nil {
		return at(path, err)
	}
	if own, err := fillItself(target, v); own || err != nil {
		return at(path, err)
	}
	switch v := v.(type) {
	case map[string]any:
		return d.fillMap(target, v, path)
	case []any:
		return d.fillList(target, v, path)
	}
	if target.Kind() == reflect.Pointer {
		return d.fillNew(target, v, path)
	}
	if !fillScalar(target, v) {
		return misfit(target, v, path)
	}
	return nil
}

func (d document) fillNew(target reflect.Value, v any, path string) error {
	target.Set(reflect.New(target.Type().Elem()))
	return d.fill(target.Elem(), v, path)
}

func misfit(target reflect.Value, v any, path string) error {
	text := display.Value(v)
	switch v := v.(type) {
	case bool, int64, *big.Int, float64:
		text = fmt.Sprint(v)
	case string:
		text = strconv.Quote(v)
	}
	return at(path, fmt.Errorf("%s cannot be assigned to a field of type %s", text, target.Type()))
}

// at prefixes an error with a path.
func at(path string, err error) error {
	if err == nil || path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", strings.TrimPrefix(path, "."), err)
}

// fillPixels converts images to arrays and the reverse.
func fillPixels(target reflect.Value, v any) (ok bool, err error) {
	var pixels *array.Array
	switch v := v.(type) {
	case *array.Array:
		pixels = v
	case image.Image:
		if t := target.Type(); t != reflect.TypeFor[array.Array]() && t != reflect.TypeFor[*array.Array]() {
			return false, nil
		}
		if pixels, err = array.FromImage(v, 0); err != nil {
			return false, err
		}
	default:
		return false, nil
	}
	switch to := target.Addr().Interface().(type) {
	case *array.Array:
		*to = *pixels
	case **array.Array:
		*to = pixels
	case *image.Image:
		*to, err = pixels.Image()
	default:
		return false, nil
	}
	return err == nil, err
}

// fillItself uses the decoding method of the type, if it has one.
func fillItself(target reflect.Value, v any) (ok bool, err error) {
	switch to := target.Addr().Interface().(type) {
	case json.Unmarshaler:
		asJSON, _ := codec.ByExtension("json")
		b, err := asJSON.Encode(v)
		if err != nil {
			return false, err
		}
		return true, to.UnmarshalJSON(b)
	case encoding.TextUnmarshaler:
		text, ok := v.(string)
		if !ok {
			return false, nil
		}
		return true, to.UnmarshalText([]byte(text))
	}
	return false, nil
}

func (d document) fillMap(target reflect.Value, v map[string]any, path string) error {
	switch target.Kind() {
	case reflect.Pointer:
		return d.fillNew(target, v, path)
	case reflect.Struct:
		for _, f := range d.fields(target.Type()) {
			part, ok := f.find(v)
			if !ok {
				continue
			}
			if err := d.fill(target.FieldByIndex(f.index), part, path+"."+f.name); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		if target.Type().Key().Kind() != reflect.String {
			break
		}
		target.Set(reflect.MakeMapWithSize(target.Type(), len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			e := reflect.New(target.Type().Elem()).Elem()
			if err := d.fill(e, v[k], path+"."+k); err != nil {
				return err
			}
			target.SetMapIndex(reflect.ValueOf(k).Convert(target.Type().Key()), e)
		}
		return nil
	}
	return misfit(target, v, path)
}

func (d document) fillList(target reflect.Value, v []any, path string) error {
	switch target.Kind() {
	case reflect.Pointer:
		return d.fillNew(target, v, path)
	case reflect.Slice:
		target.Set(reflect.MakeSlice(target.Type(), len(v), len(v)))
	case reflect.Array:
		if len(v) != target.Len() {
			return at(path, fmt.Errorf("a list of %d elements cannot be assigned to a field of type %s", len(v), target.Type()))
		}
	default:
		return misfit(target, v, path)
	}
	for i, e := range v {
		if err := d.fill(target.Index(i), e, path+"."+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// fillScalar sets target from v if it can represent v exactly.
func fillScalar(target reflect.Value, v any) bool {
	switch v := v.(type) {
	case bool:
		if target.Kind() != reflect.Bool {
			return false
		}
		target.SetBool(v)
		return true
	case string:
		return fillText(target, v)
	case int64:
		return fillWhole(target, v)
	case *big.Int:
		return fillWide(target, v)
	case float64:
		if !target.CanFloat() || target.OverflowFloat(v) {
			return false
		}
		target.SetFloat(v)
		return true
	}
	return false
}

func fillText(target reflect.Value, v string) bool {
	if target.Kind() == reflect.String {
		target.SetString(v)
		return true
	}
	if target.Kind() != reflect.Slice || target.Type().Elem().Kind() != reflect.Uint8 {
		return false
	}
	b, err := base64.StdEncoding.DecodeString(v) // as JSON writes bytes
	target.SetBytes(b)
	return err == nil
}

func fillWhole(target reflect.Value, v int64) bool {
	switch {
	case target.CanInt() && !target.OverflowInt(v):
		target.SetInt(v)
	case target.CanUint() && v >= 0 && !target.OverflowUint(uint64(v)):
		target.SetUint(uint64(v))
	case target.CanFloat():
		target.SetFloat(float64(v))
	default:
		return false
	}
	return true
}

// fillWide sets target from a number that does not fit into int64. A float takes the
// nearest value, as it does for other integers.
func fillWide(target reflect.Value, v *big.Int) bool {
	switch {
	case target.Type() == reflect.TypeFor[big.Int]():
		target.Addr().Interface().(*big.Int).Set(v)
	case target.CanUint() && v.IsUint64() && !target.OverflowUint(v.Uint64()):
		target.SetUint(v.Uint64())
	case target.CanFloat():
		f, _ := v.Float64()
		if target.OverflowFloat(f) {
			return false
		}
		target.SetFloat(f)
	default:
		return false
	}
	return true
}

// structField maps a field of a struct to a field of a document.
type structField struct {
	name  string // in the document; case is ignored
	index []int
}

// find returns the value of the field in a document.
func (f structField) find(v map[string]any) (any, bool) {
	if part, ok := v[f.name]; ok {
		return part, true
	}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if strings.EqualFold(k, f.name) {
			return v[k], true
		}
	}
	return nil, false
}

type structOf struct {
	t   reflect.Type
	tag string
}

var structTypes sync.Map // structOf -> []structField

// fields lists the fields of a struct under their names in the document.
func (d document) fields(t reflect.Type) []structField {
	if known, ok := structTypes.Load(structOf{t, d.tag}); ok {
		return known.([]structField)
	}
	fields := d.listFields(t, nil)
	structTypes.Store(structOf{t, d.tag}, fields)
	return fields
}

func (d document) listFields(t reflect.Type, outer []int) []structField {
	var fields []structField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get(d.tag), ",")
		index := append(slices.Clone(outer), i)
		inline := options == "inline" || f.Anonymous && name == "" && d.tag != "yaml"
		switch {
		case inline && f.Type.Kind() == reflect.Struct:
			for _, inner := range d.listFields(f.Type, index) {
				if !slices.ContainsFunc(fields, func(have structField) bool { return have.name == inner.name }) {
					fields = append(fields, inner)
				}
			}
		case name == "-" || !f.IsExported():
		default:
			if name == "" {
				name = f.Name
			}
			fields = slices.DeleteFunc(fields, func(have structField) bool { return have.name == name && len(have.index) > len(index) })
			fields = append(fields, structField{name, index})
		}
	}
	return fields
}
