package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// different returns different non-zero values of a type. For a struct it sets each field
// separately.
func different(t *testing.T, of reflect.Type) (all []reflect.Value) {
	t.Helper()
	switch of.Kind() {
	case reflect.String:
		return []reflect.Value{reflect.ValueOf("a").Convert(of), reflect.ValueOf("b").Convert(of)}
	case reflect.Bool:
		return []reflect.Value{reflect.ValueOf(true).Convert(of)}
	case reflect.Int, reflect.Uint8, reflect.Uint64, reflect.Float64:
		return []reflect.Value{reflect.ValueOf(1).Convert(of), reflect.ValueOf(2).Convert(of)}
	case reflect.Map:
		for _, v := range different(t, of.Elem()) {
			m := reflect.MakeMap(of)
			m.SetMapIndex(reflect.ValueOf("k"), v)
			all = append(all, m)
		}
	case reflect.Slice:
		for _, v := range different(t, of.Elem()) {
			all = append(all, reflect.Append(reflect.MakeSlice(of, 0, 1), v))
		}
		all = append(all, reflect.AppendSlice(all[0], all[1]))
	case reflect.Pointer:
		for _, v := range different(t, of.Elem()) {
			p := reflect.New(of.Elem())
			p.Elem().Set(v)
			all = append(all, p)
		}
	case reflect.Struct:
		if of == reflect.TypeFor[onlySpec]() {
			one, two := 1, 2
			for _, o := range []onlySpec{{list: []int{}}, {list: []int{1, 2, 3}}, {list: []int{4, 5, 6}}, {list: []int{1, 2}}, {From: &one}, {To: &one}, {Step: &one}, {Step: &two}} {
				all = append(all, reflect.ValueOf(o))
			}
			return all
		}
		for i := range of.NumField() {
			for _, v := range different(t, of.Field(i).Type) {
				s := reflect.New(of).Elem()
				s.Field(i).Set(v)
				all = append(all, s)
			}
		}
	default:
		t.Fatalf("the test knows no values of %s", of)
	}
	return all
}

// TestRequestsStandForAllThatTheySay checks that requests that differ in any field differ
// as JSON, which decides whether clients share a reading.
func TestRequestsStandForAllThatTheySay(t *testing.T) {
	seen := map[string]string{}
	for _, v := range different(t, reflect.TypeFor[openRequest]()) {
		o := v.Interface().(openRequest)
		text, err := json.Marshal(&o)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[string(text)]; ok {
			t.Errorf("%+v and %s are both %s", o, other, text)
		}
		seen[string(text)] = fmt.Sprintf("%+v", o)
	}
	if len(seen) < 60 {
		t.Errorf("only %d requests were tried", len(seen))
	}
}

// TestListsOfSamplesAreNotShared checks that clients that select different samples by a
// list get different samples.
func TestListsOfSamplesAreNotShared(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	request := rows(t, 20)
	for _, only := range [][]int64{{1, 2, 3}, {4, 5, 6}, {7}, {1, 2, 3}} {
		c := connect(t, socket)
		part := with(request["parts"].([]any)[0].(map[string]any), map[string]any{"only": only})
		c.send(kindOpen, with(request, map[string]any{"parts": []any{part}}))
		c.want(kindOpened)
		c.send(kindStart, map[string]any{"epochs": 1})
		c.want(kindStarted)
		if got := values(c.epoch()); !slices.Equal(got, only) {
			t.Errorf("samples %v, want %v", got, only)
		}
	}
}
