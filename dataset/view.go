package dataset

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
)

// View reads a sample into a struct: each field with a tag `larder:"KEY"` gets
// the value of the item under that key. The field's type is the value's own
// (image.Image, *array.Array, map[string]any, ...), or, for JSON and YAML
// items, any type that the document can be decoded into. A key that ends in
// "?" may be missing, and leaves the zero value. Only the items named are
// read.
func View[T any](ctx context.Context, s Sample) (T, error) {
	var v T
	view, err := viewOf(reflect.TypeFor[T]())
	if err != nil {
		return v, err
	}
	target := reflect.ValueOf(&v).Elem()
	for _, f := range view {
		it, err := s.Item(f.key)
		if err != nil {
			if f.optional {
				continue
			}
			return v, err
		}
		if err := f.read(ctx, it, target.FieldByIndex(f.index)); err != nil {
			return v, fmt.Errorf("item %s: %w", f.key, err)
		}
	}
	return v, nil
}

// Typed is ds with each sample read into a T when it is asked for. See [View].
func Typed[T any](ds Dataset[Sample]) Dataset[T] {
	return Func(ds.Len(), func(ctx context.Context, i int) (T, error) {
		s, err := ds.At(ctx, i)
		if err != nil {
			var zero T
			return zero, err
		}
		v, err := View[T](ctx, s)
		if err != nil {
			return v, &SampleError{Index: i, Err: err}
		}
		return v, nil
	})
}

// SampleOf is the reverse of [View]: each field with a tag
// `larder:"KEY,EXT"` becomes an item in memory that is encoded as EXT when its
// bytes are asked for.
func SampleOf[T any](v T) (Sample, error) {
	view, err := viewOf(reflect.TypeFor[T]())
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	for _, f := range view {
		if f.ext == "" {
			return Sample{}, fmt.Errorf("field %s of %T: its tag needs an extension, such as `larder:\"%s,json\"`", f.name, v, f.key)
		}
		s.set(Field{Key: f.key, Item: NewItem(f.ext, reflect.ValueOf(v).FieldByIndex(f.index).Interface())})
	}
	return s, nil
}

// NewTyped returns a maker from a function between tagged structs: it reads
// the items that In names and makes those that Out names.
func NewTyped[In, Out any](name string, code key.Code, f func(ctx context.Context, in In) (Out, error), params ...key.Param) (Maker, error) {
	in, err := viewOf(reflect.TypeFor[In]())
	if err != nil {
		return nil, err
	}
	out, err := viewOf(reflect.TypeFor[Out]())
	if err != nil {
		return nil, err
	}
	return NewMaker(MakerFunc{
		Name: name, Code: code, Params: params, In: in.reads(), Out: out.keys(),
		Func: func(ctx context.Context, s Sample) (Sample, error) {
			v, err := View[In](ctx, s)
			if err != nil {
				return Sample{}, err
			}
			made, err := f(ctx, v)
			if err != nil {
				return Sample{}, err
			}
			return SampleOf(made)
		},
	})
}

type viewFields []viewField

type viewField struct {
	name, key, ext string
	optional       bool
	index          []int
}

func (v viewFields) keys() []string {
	keys := make([]string, len(v))
	for i, f := range v {
		keys[i] = f.key
	}
	return keys
}

// reads returns the keys that a maker must declare to be given: nil, for the
// whole sample, if one of them may be missing.
func (v viewFields) reads() []string {
	if slices.ContainsFunc(v, func(f viewField) bool { return f.optional }) {
		return nil
	}
	return v.keys()
}

var views sync.Map // reflect.Type -> viewFields

func viewOf(t reflect.Type) (viewFields, error) {
	if v, ok := views.Load(t); ok {
		return v.(viewFields), nil
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct with `larder:\"KEY\"` tags", t)
	}
	fields := make(viewFields, 0, t.NumField())
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("larder")
		if !ok {
			continue
		}
		if !f.IsExported() {
			return nil, fmt.Errorf("field %s of %s has a larder tag but is not exported", f.Name, t)
		}
		key, ext, _ := strings.Cut(tag, ",")
		key, optional := strings.CutSuffix(key, "?")
		fields = append(fields, viewField{f.Name, key, ext, optional, f.Index})
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("%s has no field with a `larder:\"KEY\"` tag", t)
	}
	views.Store(t, fields)
	return fields, nil
}

// read sets target to the item's value, or decodes its document into it.
func (f viewField) read(ctx context.Context, it *Item, target reflect.Value) error {
	if target.Kind() != reflect.Struct || f.ext != "" {
		v, err := it.Value(ctx)
		if err != nil {
			return err
		}
		if rv := reflect.ValueOf(v); rv.IsValid() && rv.Type().AssignableTo(target.Type()) {
			target.Set(rv)
			return nil
		}
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return err
	}
	b, err := it.Bytes(ctx)
	if err != nil {
		return err
	}
	return codec.DecodeInto(codecFor(ext), b, target.Addr().Interface())
}
