package key

import (
	"cmp"
	"reflect"
	"slices"
	"sync"
)

// Methods returns, as functions, the methods by which types within v encode their
// values in keys: AppendKey, MarshalBinary and similar ones, At. An edit of such a
// method may give a value the key that another one had. So keys with a code identity
// also cover the code of these methods.
func Methods(v any) ([]any, error) {
	if v == nil || !mayName(reflect.TypeOf(v), map[reflect.Type]bool{}) {
		return nil, nil
	}
	e := newEncoder(layerValue)
	defer e.free()
	e.methods = map[reflect.Type][]any{}
	err := e.root(v)
	found := e.methods
	e.methods = nil
	if err != nil || len(found) == 0 {
		return nil, err
	}
	types := make([]reflect.Type, 0, len(found))
	for t := range found {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b reflect.Type) int {
		return cmp.Or(cmp.Compare(a.PkgPath(), b.PkgPath()), cmp.Compare(a.String(), b.String()))
	})
	var list []any
	for _, t := range types {
		list = append(list, found[t]...)
	}
	return list, nil
}

// uses records that values of a type are encoded by its methods.
func (e *encoder) uses(t reflect.Type, names ...string) {
	if e.methods == nil || e.methods[t] != nil {
		return
	}
	for _, name := range names {
		m, ok := methodOf(t, name)
		if !ok {
			m, _ = methodOf(reflect.PointerTo(t), name)
		}
		e.methods[t] = append(e.methods[t], m.Func.Interface())
	}
}

// methodOf uses constant names, so that the linker can drop other methods.
func methodOf(t reflect.Type, name string) (reflect.Method, bool) {
	switch name {
	case "MarshalBinary":
		return t.MethodByName("MarshalBinary")
	case "GobEncode":
		return t.MethodByName("GobEncode")
	case "MarshalText":
		return t.MethodByName("MarshalText")
	case "At":
		return t.MethodByName("At")
	case "Bounds":
		return t.MethodByName("Bounds")
	}
	return t.MethodByName("AppendKey")
}

var naming sync.Map // of bool, by reflect.Type

// mayName reports whether a value of t may contain one that is encoded by methods.
func mayName(t reflect.Type, seen map[reflect.Type]bool) (may bool) {
	if known, ok := naming.Load(t); ok {
		return known.(bool)
	}
	if seen[t] {
		return false // as far as known
	}
	outermost := len(seen) == 0
	seen[t] = true
	if outermost {
		defer func() { naming.Store(t, may) }()
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		return mayName(t.Elem(), seen)
	}
	if t.Name() != "" && reflect.PointerTo(t).NumMethod() > 0 && special(t) == nil {
		return true
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return mayName(t.Elem(), seen)
	case reflect.Map:
		return mayName(t.Key(), seen) || mayName(t.Elem(), seen)
	case reflect.Struct:
		for f := range fieldsOf(t) {
			if mayName(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
