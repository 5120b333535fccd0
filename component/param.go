package component

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Param describes one parameter of a component. It is declared as a field of
// the component's parameter struct:
//
//	Width int `param:"width" doc:"columns of the result" default:"0"`
//
// The tag param gives the name, ",required" after it says that it must be
// given. The tag default gives the value that a missing one takes, in YAML.
// The tag enum lists the values allowed, separated by "|".
//
// Types: string, bool, int, float64, [Path], [Step], any, pointers to these (nil
// when missing), slices of these, and maps from string to these.
type Param struct {
	Name     string
	Doc      string
	Required bool
	Default  string // in YAML; "" for none
	Enum     []string
	Type     reflect.Type
	Field    int // index in the struct
}

func paramsOf(t reflect.Type) []Param {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("component: parameters must be a struct, not %s", t))
	}
	params := make([]Param, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("param"), ",")
		if name == "" {
			panic(fmt.Sprintf("component: field %s of %s has no param tag", f.Name, t))
		}
		p := Param{
			Name: name, Doc: f.Tag.Get("doc"), Default: f.Tag.Get("default"),
			Required: rest == "required", Type: f.Type, Field: i,
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			p.Enum = strings.Split(enum, "|")
		}
		params = append(params, p)
	}
	return params
}

// TypeName names a parameter's type as a user of a flow file would.
func (p Param) TypeName() string { return typeName(p.Type) }

func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Path]():
		return "path"
	case IsStep(t):
		return "mapper"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "list of " + typeName(t.Elem())
	case t.Kind() == reflect.Map:
		return "map of " + typeName(t.Elem())
	case t.Kind() == reflect.Interface:
		return "any"
	case t.Kind() == reflect.Float64:
		return "number"
	default:
		return t.Kind().String()
	}
}

// Suggest returns "; did you mean X?" with the nearest of the valid names, or
// a list of them if none is near, or "" if there are none.
func Suggest(name string, valid []string) string {
	if len(valid) == 0 {
		return ""
	}
	best, distance := "", min(max(3, len(name)/3), len(name))
	for _, v := range valid {
		if d := editDistance(name, v); d < distance {
			best, distance = v, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	sorted := slices.Sorted(slices.Values(valid))
	return "; valid: " + strings.Join(sorted, ", ")
}

// editDistance is Levenshtein's distance between a and b, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

// An Entry is one entry of a mapping given to a parameter of type any, where
// the order of entries may matter: such a parameter holds nil, bool, int64,
// float64, string, []any or []Entry.
type Entry struct {
	Key   string
	Value any
}
