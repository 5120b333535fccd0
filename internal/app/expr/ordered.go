package expr

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// ordered implements keys, values and toPairs for a mapping, in the order of its keys,
// because the order of the library is random. ok is false for other values and
// functions.
func ordered(name string, args []any) (v any, ok bool) {
	if name != "keys" && name != "values" && name != "toPairs" || len(args) != 1 {
		return nil, false
	}
	m := reflect.ValueOf(args[0])
	if args[0] == nil || m.Kind() != reflect.Map {
		return nil, false
	}
	keys := make([]any, 0, m.Len())
	for _, k := range m.MapKeys() {
		keys = append(keys, k.Interface())
	}
	slices.SortFunc(keys, compareKeys)
	list, pairs := make([]any, len(keys)), make([]any, len(keys))
	for i, k := range keys {
		at := reflect.New(m.Type().Key()).Elem()
		if k != nil {
			at.Set(reflect.ValueOf(k))
		}
		value := m.MapIndex(at).Interface()
		pairs[i] = []any{k, value}
		if list[i] = k; name == "values" {
			list[i] = value
		}
	}
	if name == "toPairs" {
		return pairs, true
	}
	return list, true
}

// compareKeys orders keys of mappings: null, booleans, numbers, strings, others.
func compareKeys(a, b any) int {
	a, b = plain(a), plain(b)
	rank := func(v any) int { return slices.Index([]kinds{nullKind, truthKind, numberKind, textKind}, rankOf(v)) }
	if c := cmp.Compare(uint(rank(a)), uint(rank(b))); c != 0 {
		return c
	}
	if rankOf(a) == numberKind {
		if c := compareNumbers(a, b); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)), cmp.Compare(fmt.Sprintf("%T", a), fmt.Sprintf("%T", b)))
}

func rankOf(v any) kinds {
	if k := kindOf(v); k&numberKind == 0 {
		return k
	}
	return numberKind
}
