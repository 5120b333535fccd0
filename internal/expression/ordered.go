package expression

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// ordered is what keys, values and toPairs give of a mapping: in the order of its keys,
// where the language leaves it to chance. ok is false for what is no mapping, or another
// function.
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
	list, pairs := make([]any, len(keys)), make([][2]any, len(keys))
	for i, k := range keys {
		at := reflect.New(m.Type().Key()).Elem()
		if k != nil {
			at.Set(reflect.ValueOf(k))
		}
		value := m.MapIndex(at).Interface()
		pairs[i] = [2]any{k, value}
		if list[i] = k; name == "values" {
			list[i] = value
		}
	}
	if name == "toPairs" {
		return pairs, true
	}
	return list, true
}

// compareKeys orders keys of mappings: null, truth values, numbers, texts, others.
func compareKeys(a, b any) int {
	rank := func(v any) int {
		switch reflect.ValueOf(v).Kind() {
		case reflect.Invalid:
			return 0
		case reflect.Bool:
			return 1
		case reflect.String:
			return 3
		}
		if _, ok := number(v); ok {
			return 2
		}
		return 4
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	x, xok := number(a)
	y, yok := number(b)
	if xok && yok {
		if i, j, ok := integers(a, b); ok {
			return cmp.Compare(i, j)
		}
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)), cmp.Compare(fmt.Sprintf("%T", a), fmt.Sprintf("%T", b)))
}

// number is a number as a float.
func number(v any) (float64, bool) {
	r := reflect.ValueOf(v)
	switch {
	case v == nil:
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}
