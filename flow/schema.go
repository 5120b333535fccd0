package flow

import (
	"reflect"

	"github.com/larder-data/larder/component"
	"go.yaml.in/yaml/v4"
)

// object is a JSON Schema or a part of one.
type object = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of flow files, generated from
// the registered components. Variables (${name}) may replace any value.
func Schema() object {
	node := object{
		"type": "object", "additionalProperties": false,
		"properties": nodeProperties(), "oneOf": nodeVariants(),
	}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Larder flow", "type": "object", "additionalProperties": false,
		"required": []string{"version"},
		"anyOf":    []any{object{"required": []string{"nodes"}}, object{"required": []string{"include"}}},
		"$defs":    object{"switch": switchSchema()},
		"patternProperties": object{
			"^x-": object{"description": "any value, for anchors"},
		},
		"properties": object{
			"version": object{"const": 1},
			"vars":    object{"type": "object"},
			"profiles": object{
				"type": "object", "description": "named sets of variable values, chosen by --profile",
				"additionalProperties": object{"type": "object", "additionalProperties": object{"type": []string{"string", "number", "boolean"}}},
			},
			"sweep": object{
				"type": "object", "description": "variables with several values: nodes that depend on one exist once for each value",
				"additionalProperties": object{"type": "array", "minItems": 1, "items": object{"type": []string{"string", "number", "boolean"}}},
			},
			"include": object{
				"description": "flow files whose nodes belong to this flow; variables of this file override theirs",
				"anyOf":       []any{object{"type": "string"}, object{"type": "array", "items": object{"type": "string"}}},
			},
			"limits": object{
				"type": "object", "additionalProperties": false, "description": "limits for decoding files",
				"properties": object{
					"pixels":   orVariable(object{"type": "integer", "minimum": 1, "description": "pixels of an image, all pages together"}),
					"item":     object{"type": []string{"string", "integer"}, "description": "bytes of an item, row or record, such as 2GiB"},
					"unpacked": object{"type": []string{"string", "integer"}, "description": "uncompressed bytes of the arrays in a compressed file, such as 8GiB"},
				},
			},
			"defaults": object{"type": "object", "additionalProperties": false, "properties": optionProperties()},
			"nodes": object{
				"type": "object", "propertyNames": object{"pattern": nodeName.String()},
				"additionalProperties": node,
			},
		},
	}
}

func optionProperties() object {
	return object{
		"keep":       object{"type": "boolean", "description": "cache each sample on disk when it is first computed"},
		"checkpoint": object{"enum": []any{true, false, "auto"}, "description": "compute, cache and pin all samples before the node is read; auto decides by measured costs"},
		"workers":    orVariable(object{"type": "integer", "minimum": 1}),
		"on-error": object{
			"description": "what to do with samples that fail: stop the run, or skip them, up to a number or percentage",
			"anyOf": []any{
				object{"enum": []any{"fail", "skip"}},
				object{"type": "object", "additionalProperties": false, "required": []string{"skip"}, "properties": object{"skip": object{"type": []string{"string", "integer"}}}},
			},
		},
		"cache": object{
			"description": "cache decoded samples in memory",
			"type":        "object", "additionalProperties": false, "required": []string{"policy"},
			"properties": object{
				"policy": object{"enum": cachePolicies()},
				"size":   orVariable(object{"type": "integer", "minimum": 1}),
				"bytes":  object{"type": []string{"string", "integer"}},
			},
		},
	}
}

func nodeProperties() object {
	p := optionProperties()
	reference := object{"type": "string", "description": "NODE, or NODE.OUTPUT of a node with several outputs"}
	p["from"] = object{"anyOf": []any{
		reference,
		object{"type": "array", "items": reference},
		object{"type": "object", "additionalProperties": reference},
	}}
	p["with"] = object{"type": "object"}
	p["folder"] = object{"type": "string", "description": "directory of the node's relative paths, commands and modules; default: that of the file"}
	for _, kind := range component.Kinds() {
		p[string(kind)] = object{"type": "string"}
	}
	return p
}

// nodeVariants lists one schema per component, with its parameters.
func nodeVariants() []any {
	var variants []any
	for _, kind := range component.Kinds() {
		for _, c := range component.All(kind) {
			variants = append(variants, variant(c))
		}
	}
	return variants
}

func names(kind component.Kind) (all []string) {
	for _, c := range component.All(kind) {
		all = append(all, c.Name)
	}
	return all
}

func variant(c *component.Component) object {
	with := object{"type": "object", "additionalProperties": false}
	properties, required := object{}, []string{}
	for _, p := range c.Params {
		properties[p.Name] = paramSchema(p)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	with["properties"] = properties
	needed := []string{string(c.Kind)}
	if len(required) > 0 {
		with["required"] = required
		needed = append(needed, "with")
	}
	if c.Kind != component.Source {
		needed = append(needed, "from")
	}
	return object{
		"description": c.Doc, "required": needed,
		"properties": object{string(c.Kind): object{"const": c.Name}, "with": with},
	}
}

func paramSchema(p component.Param) object {
	s := orVariable(typeSchema(p.Type))
	if p.Enum != nil {
		s = orVariable(object{"enum": p.Enum})
	}
	s["description"] = p.Doc
	var d any
	if p.Default != "" && yaml.Unmarshal([]byte(p.Default), &d) == nil {
		s["default"] = d
	}
	return s
}

// orVariable also allows a variable or a switch instead of a value.
func orVariable(s object) object {
	if len(s) == 0 {
		return s
	}
	return object{"anyOf": []any{s, object{"type": "string", "pattern": `^\$\{[^}]*\}$`}, object{"$ref": "#/$defs/switch"}}}
}

func switchSchema() object {
	return object{
		"description": "a value chosen by the value of a variable",
		"type":        "object", "additionalProperties": false, "required": []string{"switch", "cases"},
		"properties": object{"switch": object{}, "cases": object{"type": "object"}, "default": object{}},
	}
}

func typeSchema(t reflect.Type) object {
	if component.IsStep(t) {
		return object{
			"type": "object", "additionalProperties": false, "required": []string{"map"},
			"properties": object{"map": object{"enum": names(component.Map)}, "with": object{"type": "object"}},
		}
	}
	if t == reflect.TypeFor[component.Size]() {
		return object{"type": []string{"string", "integer"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": orVariable(typeSchema(t.Elem()))}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": orVariable(typeSchema(t.Elem()))}
	default:
		return object{}
	}
}
