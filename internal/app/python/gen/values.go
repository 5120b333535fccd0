package gen

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/component"
)

const (
	none     = "None"
	anything = "object" // the type of a parameter of any type, including None
)

// typeOf writes the type of a parameter. A variable may stand for any value.
func typeOf(p component.Param) string {
	if p.Enum == nil {
		return typeName(p.TypeName())
	}
	values := make([]string, len(p.Enum))
	for i, v := range p.Enum {
		values[i] = quote(v)
	}
	return "Literal[" + strings.Join(values, ", ") + "] | Var"
}

// typeName writes a type, given by its name in flows.
func typeName(name string) string {
	if of, ok := strings.CutPrefix(name, "list of "); ok {
		return "Sequence[" + typeName(of) + "] | Var"
	}
	if of, ok := strings.CutPrefix(name, "map of "); ok {
		return "Mapping[str, " + typeName(of) + "] | Var"
	}
	switch name {
	case "string":
		return "str | Var"
	case "path":
		return "str | PathLike[str] | Var"
	case "size":
		return "str | int | Var"
	case "int", "bool":
		return name + " | Var"
	case "number":
		return "float | Var"
	case "mapper":
		return "Step | Mapping[str, Any]"
	case "any":
		return anything
	}
	panic(fmt.Sprintf("pythongen: %q has no Python type", name))
}

// defaultOf writes the default of a parameter.
func defaultOf(p component.Param) string {
	if p.Default == "" {
		if p.Type.Kind() == reflect.Bool {
			return "False"
		}
		return none
	}
	var v any
	if err := yaml.Unmarshal([]byte(p.Default), &v); err != nil {
		panic(fmt.Sprintf("pythongen: default %q of %s: %v", p.Default, p.Name, err))
	}
	return literal(v)
}

// literal writes a value. Lists become tuples, which are immutable.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return none
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return quote(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	case []any:
		all := make([]string, len(v))
		for i, e := range v {
			all[i] = literal(e)
		}
		if len(all) == 1 {
			return "(" + all[0] + ",)"
		}
		return "(" + strings.Join(all, ", ") + ")"
	}
	panic(fmt.Sprintf("pythongen: %T has no Python literal", v))
}

// quote writes a string in double quotes. All escapes of Go are valid in Python.
func quote(text string) string { return strconv.Quote(text) }

// escape escapes a string for a docstring.
func escape(text string) string {
	text = strings.ReplaceAll(text, `\`, `\\`)
	text = strings.ReplaceAll(text, `"""`, `\"\"\"`)
	if strings.HasSuffix(text, `"`) {
		text = strings.TrimSuffix(text, `"`) + `\"`
	}
	return text
}
