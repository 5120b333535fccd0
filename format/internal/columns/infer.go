package columns

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

// maxLeaves bounds the leaves of a table, and maxLevels their depth: objects that are
// used as mappings have as many fields as there are keys.
const (
	maxLeaves = 2000
	maxLevels = 200
)

// kindOf returns the kind of column that can hold a value of a sample.
func kindOf(v any, sample int) (*Kind, error) {
	k := &Kind{seen: sample}
	switch v := v.(type) {
	case nil:
		k.Of = Null
	case bool:
		k.Of = "bool"
	case int64:
		k.Of, k.fits = "int64", holders(v)
	case *big.Int:
		if !v.IsUint64() {
			return nil, component.Unfit(fmt.Errorf("an integer exceeds 64 bits; set types: {ITEM: json}, or convert to a string"))
		}
		k.Of, k.fits = "uint64", holders(v)
	case float64:
		k.Of, k.fits = "float64", holders(v)
	case string:
		k.Of = "string"
	case []byte:
		k.Of = "binary"
	case *array.Array:
		k.Of = typeOf(v.DType)
		return listed(k, len(v.Shape)), nil
	case []any:
		k.Of, k.Elem = List, &Kind{Of: Null, seen: sample}
		for _, e := range v {
			elem, err := kindOf(e, sample)
			if err == nil {
				k.Elem, err = k.Elem.merge(elem, "[]")
			}
			if err != nil {
				return nil, err
			}
		}
	case map[string]any:
		k.Of = Struct
		for _, name := range slices.Sorted(maps.Keys(v)) {
			field, err := kindOf(v[name], sample)
			if err != nil {
				return nil, err
			}
			k.Fields = append(k.Fields, Field{name, field})
		}
	default:
		return nil, component.Unfit(fmt.Errorf("%s cannot be stored in a column; convert it first", display.Value(v)))
	}
	return k, nil
}

// merge returns the kind that holds the values of both. path is their location in an
// item.
func (k *Kind) merge(other *Kind, path string) (*Kind, error) {
	switch {
	case other.Of == Null:
		return k, nil
	case k.Of == Null:
		return other, nil
	case k.Of == List && other.Of == List:
		elem, err := k.Elem.merge(other.Elem, path+"[]")
		return &Kind{Of: List, Elem: elem, seen: k.seen}, err
	case k.Of == Struct && other.Of == Struct:
		return k.mergeFields(other, path)
	case k.isNumber() && other.isNumber():
		if merged := k.mergeNumbers(other); merged != nil {
			return merged, nil
		}
	case k.Of == other.Of:
		return k, nil
	}
	if path = strings.TrimPrefix(path, "."); path != "" {
		path = display.Name(path) + ": "
	}
	return nil, component.Unfit(fmt.Errorf("%stype is %v in sample %d but %v in sample %d; convert one, or set types: {ITEM: json}", path, k.short(), k.seen, other.short(), other.seen))
}

// short formats a kind for a message.
func (k *Kind) short() string {
	switch k.Of {
	case List:
		return "a list"
	case Struct:
		return "an object"
	}
	return k.Of
}

// mergeFields returns a struct with the fields of both.
func (k *Kind) mergeFields(other *Kind, path string) (*Kind, error) {
	if sameNames(k.Fields, other.Fields) {
		for i, f := range other.Fields {
			merged, err := k.Fields[i].Kind.merge(f.Kind, path+"."+f.Name)
			if err != nil {
				return nil, err
			}
			k.Fields[i].Kind = merged
		}
		return k, nil
	}
	all := map[string]*Kind{}
	for _, f := range k.Fields {
		all[f.Name] = f.Kind
	}
	for _, f := range other.Fields {
		has, ok := all[f.Name]
		if !ok {
			all[f.Name] = f.Kind
			continue
		}
		merged, err := has.merge(f.Kind, path+"."+f.Name)
		if err != nil {
			return nil, err
		}
		all[f.Name] = merged
	}
	to := &Kind{Of: Struct, seen: k.seen}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		to.Fields = append(to.Fields, Field{name, all[name]})
	}
	if len(to.Fields) > maxLeaves {
		return nil, component.Unfit(fmt.Errorf("objects have more than %d fields; set types: {ITEM: json}", maxLeaves))
	}
	return to, nil
}

func sameNames(a, b []Field) bool {
	return slices.EqualFunc(a, b, func(a, b Field) bool { return a.Name == b.Name })
}

// check refuses kinds that no file can have.
func (k *Kind) check(depth int) error {
	switch {
	case depth > maxLevels:
		return component.Unfit(fmt.Errorf("values are nested deeper than %d; set types: {ITEM: json}", maxLevels/2))
	case k.Of == List:
		return k.Elem.check(depth + 2)
	case k.Of == Struct && len(k.Fields) == 0:
		return component.Unfit(fmt.Errorf("an object has no fields, as in sample %d; set types: {ITEM: json}", k.seen))
	}
	for _, f := range k.Fields {
		if err := f.Kind.check(depth + 1); err != nil {
			return err
		}
	}
	return nil
}
