package dataset

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// Decode reads a sample into a struct whose tags name its items:
//
//	type Letter struct {
//		Image image.Image `item:"image" ext:"png"`
//		Meta  struct {
//			Letter, Color string
//		} `item:"metadata" ext:"yaml"`
//		Mask  *dataset.Item `item:"mask,optional"`
//		Names []string      `item:"names,shared" ext:"json"`
//	}
//
// Only these items are read. The type of a field says how its item is read:
//
//   - *Item: not read; the caller can read it later.
//   - []byte: the bytes of the item, in any encoding.
//   - image.Image, array.Array, *array.Array: its value. Images and arrays are
//     converted to each other, as package array describes.
//   - string and any other type of the value: the value itself.
//   - structs, maps, slices, numbers and pointers to these: a JSON or YAML
//     document of that form. Fields of structs are named by the tag of the
//     format (json, yaml), or else by the name of the field, ignoring case.
//     Fields that only the document has are ignored; fields that only the
//     struct has stay zero.
//
// With ",optional" the item may be missing, which leaves the zero value. An error
// names the item and the path in its document. Two fields may read one item.
func Decode[T any](ctx context.Context, s Sample) (T, error) {
	var v T
	fields, err := taggedFields(reflect.TypeFor[T]())
	if err != nil {
		return v, err
	}
	target := reflect.ValueOf(&v).Elem()
	for _, f := range fields {
		it, err := s.Item(f.key)
		if err != nil {
			if f.optional {
				continue
			}
			return v, err
		}
		if err := f.decode(ctx, it, target.FieldByIndex(f.index)); err != nil {
			return v, fmt.Errorf("item %s: %w", display.Name(f.key), err)
		}
	}
	return v, nil
}

// Encode returns a sample computed from a struct, or from a pointer to one, with the
// tags of [Decode]. The tag ext says how an item is encoded on demand. Only an *Item
// needs none; a []byte must already be encoded. An item with ",shared" is shared, and
// one with ",optional" is omitted if the field is zero. Two fields for one item are an
// error.
func Encode(v any) (Sample, error) {
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer {
		rv = rv.Elem()
	}
	if !rv.IsValid() {
		return Sample{}, fmt.Errorf("a nil %T is not a sample", v)
	}
	fields, err := taggedFields(rv.Type())
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	for _, f := range fields {
		value := rv.FieldByIndex(f.index)
		if f.optional && value.IsZero() {
			continue
		}
		if s.index(f.key) >= 0 {
			return Sample{}, fmt.Errorf("%s has two fields for item %s", rv.Type(), f.key)
		}
		it, err := f.encode(value)
		if err != nil {
			return Sample{}, fmt.Errorf("field %s of %s: %w", f.name, rv.Type(), err)
		}
		s.set(Field{Key: f.key, Item: it, Shared: f.shared})
	}
	return s, nil
}

// Typed returns ds with each sample decoded into a T on request. See [Decode].
func Typed[T any](ds Dataset[Sample]) Dataset[T] {
	return Func(ds.Len(), func(ctx context.Context, i int) (T, error) {
		s, err := ds.At(ctx, i)
		if err != nil {
			var zero T
			return zero, err
		}
		v, err := Decode[T](ctx, s)
		if err != nil {
			return v, &SampleError{Index: i, Err: err}
		}
		return v, nil
	})
}

// NewTyped returns a transform from a function between structs with the tags of
// [Decode]. It reads the items of In, the optional ones if they exist, and computes
// those of Out. code and params are as in [TransformFunc]: with the zero code, f is
// identified by its source.
func NewTyped[In, Out any](name string, code key.Code, f func(ctx context.Context, in In) (Out, error), params ...key.Param) (Transform, error) {
	in, err := taggedFields(reflect.TypeFor[In]())
	if err != nil {
		return nil, err
	}
	out, err := taggedFields(reflect.TypeFor[Out]())
	if err != nil {
		return nil, err
	}
	for _, o := range out {
		if o.optional {
			return nil, fmt.Errorf("field %s of %s: outputs of a transform cannot be optional", o.name, reflect.TypeFor[Out]())
		}
	}
	m, err := NewTransform(TransformFunc{
		Name: name, Code: code, Params: params, Formats: out.formats(),
		Names: func(have []string) (reads, makes []string) { return in.present(have), out.keys() },
		Func: func(ctx context.Context, s Sample) (Sample, error) {
			v, err := Decode[In](ctx, s)
			if err != nil {
				return Sample{}, err
			}
			made, err := f(ctx, v)
			if err != nil {
				return Sample{}, err
			}
			return Encode(made)
		},
	})
	if m, ok := m.(*funcTransform); ok {
		m.code = []any{f}
	}
	return m, err
}

type tagged []taggedField

type taggedField struct {
	name, key, ext   string
	optional, shared bool
	index            []int
}

// formats lists the extensions under which fields are encoded, or returns nil if one is
// unknown.
func (t tagged) formats() []string {
	exts := make([]string, len(t))
	for i, f := range t {
		if exts[i] = f.ext; f.ext == "" {
			return nil
		}
	}
	return exts
}

func (t tagged) keys() []string {
	keys := make([]string, len(t))
	for i, f := range t {
		keys[i] = f.key
	}
	return keys
}

// present returns the required keys, and the optional ones that exist.
func (t tagged) present(have []string) []string {
	keys := make([]string, 0, len(t))
	for _, f := range t {
		if !f.optional || slices.Contains(have, f.key) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

var taggedTypes sync.Map // reflect.Type -> tagged

func taggedFields(t reflect.Type) (tagged, error) {
	if known, ok := taggedTypes.Load(t); ok {
		return known.(tagged), nil
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct with `item:\"KEY\"` tags", t)
	}
	var fields tagged
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("item")
		if !ok {
			continue
		}
		field, err := readTag(t, f, tag)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		fields = append(fields, field)
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("%s has no field with an `item:\"KEY\"` tag", t)
	}
	taggedTypes.Store(t, fields)
	return fields, nil
}

func readTag(t reflect.Type, f reflect.StructField, tag string) (taggedField, error) {
	name, options, _ := strings.Cut(tag, ",")
	field := taggedField{name: f.Name, key: name, ext: f.Tag.Get("ext"), index: f.Index}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "optional":
			field.optional = true
		case "shared":
			field.shared = true
		default:
			return field, fmt.Errorf("unknown option %q in the item tag; use optional or shared", option)
		}
	}
	for n := range f.Index[1:] {
		if t.FieldByIndex(f.Index[:n+1]).Type.Kind() == reflect.Pointer {
			return field, errors.New("the struct is embedded by pointer; embed the struct itself")
		}
	}
	switch {
	case name == "":
		return field, errors.New("the item tag has no key")
	case !f.IsExported():
		return field, errors.New("unexported field with an item tag; export it")
	}
	return field, nil
}

var (
	itemType  = reflect.TypeFor[*Item]()
	bytesType = reflect.TypeFor[[]byte]()
)

func (f taggedField) decode(ctx context.Context, it *Item, target reflect.Value) error {
	switch target.Type() {
	case itemType:
		target.Set(reflect.ValueOf(it))
		return nil
	case bytesType:
		b, err := it.Bytes(ctx)
		target.SetBytes(b)
		return err
	}
	v, err := it.Value(ctx)
	if err != nil {
		return err
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return err
	}
	return document{tag: codecFor(ext).Name}.fill(target, v, "")
}

func (f taggedField) encode(v reflect.Value) (*Item, error) {
	if it, ok := v.Interface().(*Item); ok {
		if it == nil {
			return nil, errors.New("the item is nil; declare it `,optional` if it may be missing")
		}
		return it, nil
	}
	if f.ext == "" {
		return nil, fmt.Errorf("the ext tag is missing; write one such as `item:\"%s\" ext:\"json\"`", f.key)
	}
	if v.Type() == bytesType {
		return NewBytes(f.ext, v.Bytes()), nil
	}
	if v.Kind() == reflect.Interface && v.IsNil() {
		return nil, errors.New("nil value; declare the item `,optional` if it may be missing")
	}
	return NewItem(f.ext, v.Interface()), nil
}
