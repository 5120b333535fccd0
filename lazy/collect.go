package lazy

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/key"
)

// Slice returns a list of values.
func Slice[T any](values ...Value[T]) Value[[]T] {
	fn := newBuiltin("lazy.Slice", func(_ context.Context, _ *evaluator, args []any) ([]T, error) {
		list := make([]T, len(args))
		for i, a := range args {
			list[i] = as[T](a)
		}
		return list, nil
	}, key.Param{Name: "element", Value: analysis.TypeText(reflect.TypeFor[T]())})
	return Value[[]T]{fn.apply(nodes(values)...)}
}

// MapOf returns a map of values. The order of evaluation is undefined; the key does not
// depend on any order.
func MapOf[K comparable, T any](values map[K]Value[T]) Value[map[K]T] {
	type named struct {
		name key.Digest
		key  K
	}
	var keys []named
	var failed error
	for k := range maps.Keys(values) {
		d, err := key.Of(k)
		if err != nil {
			failed = fmt.Errorf("lazy: MapOf: %w", err)
		}
		keys = append(keys, named{d, k})
	}
	slices.SortFunc(keys, func(a, b named) int { return slices.Compare(a.name[:], b.name[:]) })
	args := make([]*node, len(keys))
	names := make([]key.Digest, len(keys))
	for i, k := range keys {
		args[i], names[i] = values[k.key].node(), k.name
	}
	fn := newBuiltin("lazy.MapOf", func(_ context.Context, _ *evaluator, args []any) (map[K]T, error) {
		m := make(map[K]T, len(args))
		for i, a := range args {
			m[keys[i].key] = as[T](a)
		}
		return m, nil
	}, key.Param{Name: "keys", Value: names}, key.Param{Name: "type", Value: analysis.TypeText(reflect.TypeFor[map[K]T]())})
	n := fn.apply(args...)
	n.err = failed
	return Value[map[K]T]{n}
}

// Struct returns a struct T with the fields that values has under the same names. Each
// is a Value of the field's type, or has the field's type itself. Other fields of T are
// zero.
//
//	lazy.Struct[Options](struct{ Size lazy.Value[int]; Name string }{size, "a"})
func Struct[T any](values any) Value[T] {
	t, from := reflect.TypeFor[T](), reflect.ValueOf(values)
	var fields []int
	var names []string
	var args []*node
	var failed error
	if t.Kind() != reflect.Struct || from.Kind() != reflect.Struct {
		failed = fmt.Errorf("lazy: Struct makes a struct of a struct, not %v of %T", t, values)
	} else {
		for i := range from.NumField() {
			name := from.Type().Field(i).Name
			f, ok := t.FieldByName(name)
			n, err := fieldNode(from, i, f.Type)
			if !ok || len(f.Index) != 1 || !f.IsExported() {
				err = fmt.Errorf("%v has no such field of its own that can be set", t)
			}
			if err != nil {
				failed = fmt.Errorf("lazy: Struct: field %s: %w", name, err)
				break
			}
			fields, names, args = append(fields, f.Index[0]), append(names, name), append(args, n)
		}
	}
	fn := newBuiltin("lazy.Struct", func(_ context.Context, _ *evaluator, args []any) (T, error) {
		var v T
		to := reflect.ValueOf(&v).Elem()
		for i, a := range args {
			if a != nil {
				to.Field(fields[i]).Set(reflect.ValueOf(a))
			}
		}
		return v, nil
	}, key.Param{Name: "fields", Value: names}, key.Param{Name: "type", Value: analysis.TypeText(t)})
	n := fn.apply(args...)
	n.err = failed
	return Value[T]{n}
}

// typed is a [Value] that knows its type.
type typed interface {
	Node
	of() reflect.Type
}

func (v Value[T]) of() reflect.Type { return reflect.TypeFor[T]() }

// fieldNode returns the i-th field of from as a node of the wanted type.
func fieldNode(from reflect.Value, i int, want reflect.Type) (*node, error) {
	if !from.Type().Field(i).IsExported() {
		return nil, fmt.Errorf("it is not exported")
	}
	v := from.Field(i).Interface()
	if t, ok := v.(typed); ok {
		if t.of() != want {
			return nil, fmt.Errorf("it is a %v, not %v", t.of(), want)
		}
		return t.node(), nil
	}
	if reflect.TypeOf(v) != want {
		return nil, fmt.Errorf("it is a %T, not %v", v, want)
	}
	return &node{value: v, copy: copyAny, mayBeBorrowed: true}, nil
}
