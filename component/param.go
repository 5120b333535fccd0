package component

import (
	"fmt"
	"reflect"
	"strings"
)

// A Param describes one parameter of a component. It is declared as a field of the
// component's parameter struct:
//
//	Width int `param:"width" doc:"width of the result" default:"0"`
//
// The tag param gives the name. A following ",required" makes the parameter mandatory;
// ",how" says that it cannot change the result. The tag default gives the value for a
// missing parameter, in YAML. The tag enum lists the allowed values, separated by "|".
//
// Types: string, bool, int, float64, [Path], [Size], [Step], any, pointers to these
// (nil when missing), slices of these, and maps from string to these.
type Param struct {
	Name     string
	Doc      string
	Required bool
	How      bool         // it cannot change the result
	Default  string       // in YAML; "" for none
	Enum     []string     // the allowed values; nil for any
	Type     reflect.Type // of the field
	Field    int          // index in the struct
}

// paramsOf reads the tags of a parameter struct. It panics if the struct declares its
// parameters wrongly.
func paramsOf(t reflect.Type) []Param {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("component: parameters must be a struct, not %s", t))
	}
	params := make([]Param, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("param"), ",")
		if name == "" {
			panic(fmt.Sprintf("component: field %s of %s has no param tag", f.Name, t))
		}
		p := Param{
			Name: name, Doc: f.Tag.Get("doc"), Default: f.Tag.Get("default"),
			Required: rest == "required", How: rest == "how", Type: f.Type, Field: i,
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			p.Enum = strings.Split(enum, "|")
		}
		params = append(params, p)
	}
	return params
}

// TypeName returns the name of a parameter's type for users of flow files.
func (p Param) TypeName() string { return typeName(p.Type) }

func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Path]():
		return "path"
	case t == reflect.TypeFor[Size]():
		return "size"
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

// An Entry is one entry of a mapping given to a parameter of type any, where the order
// of entries may matter. Such a parameter holds nil, bool, int64, float64, string,
// []any or []Entry.
type Entry struct {
	Key   string
	Value any
}
