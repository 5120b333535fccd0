package flow

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
	"go.yaml.in/yaml/v4"
)

// params decodes the parameters of a component into a value of its type, with
// defaults for missing ones.
func (p *parser) params(c *component.Component, at *yaml.Node, with []field) any {
	before, misspelt := len(p.list), false
	v := reflect.New(c.Type).Elem()
	valid := make([]string, len(c.Params))
	for i, param := range c.Params {
		valid[i] = param.Name
	}
	for _, f := range with {
		i := slices.Index(valid, f.key.Value)
		if i < 0 {
			p.unknown(f.key, fmt.Sprintf("%s %s", c.Kind, c.Name), valid)
			misspelt = true
			continue
		}
		param := c.Params[i]
		p.decode(f.value, v.Field(param.Field), param.Name)
		p.enum(f.value, param)
	}
	for _, param := range c.Params {
		if slices.ContainsFunc(with, func(f field) bool { return f.key.Value == param.Name }) {
			continue
		}
		if param.Required && misspelt {
			continue // it may be the intended one
		}
		if param.Required {
			p.at(at, "%s %s needs the parameter %s: %s", c.Kind, c.Name, param.Name, param.Doc)
			continue
		}
		p.setDefault(param, v.Field(param.Field))
	}
	if len(p.list) == before {
		if err := c.Check(v.Interface()); err != nil {
			p.wrong(at, err)
		}
	}
	return v.Interface()
}

func (p *parser) step(n *yaml.Node, what string) (s component.Step) {
	at, with, before := n, []field(nil), len(p.list)
	for _, f := range p.fields(n, what) {
		switch f.key.Value {
		case "map":
			c, err := component.Find(component.Map, f.value.Value)
			if err != nil {
				p.wrong(f.value, err)
				return s
			}
			s.Component = c
		case "with":
			at, with = f.key, p.fields(f.value, "with")
		default:
			p.unknown(f.key, what, []string{"map", "with"})
			return s
		}
	}
	if s.Component == nil {
		if len(p.list) == before {
			p.at(n, "%s must name a mapper: {map: NAME, with: {...}}", what)
		}
		return s
	}
	s.Params = p.params(s.Component, at, with)
	return s
}

// setDefault sets a parameter to its default, which the component's author
// wrote in YAML.
func (p *parser) setDefault(param component.Param, v reflect.Value) {
	if param.Default == "" {
		return
	}
	var n yaml.Node
	if err := yaml.Load([]byte(param.Default), &n); err != nil {
		panic(fmt.Sprintf("component parameter %s: default %q: %v", param.Name, param.Default, err))
	}
	p.decode(n.Content[0], v, param.Name)
}

func (p *parser) enum(n *yaml.Node, param component.Param) {
	if param.Enum != nil && n.Kind == yaml.ScalarNode && !slices.Contains(param.Enum, n.Value) {
		p.at(n, "%s cannot be %q; valid: %s", param.Name, n.Value, strings.Join(param.Enum, ", "))
	}
}

// decode reads n into v and records values that do not fit.
func (p *parser) decode(n *yaml.Node, v reflect.Value, what string) {
	if component.IsStep(v.Type()) {
		v.Set(reflect.ValueOf(p.step(n, what)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		p.decode(n, v.Elem(), what)
	case reflect.Slice:
		p.decodeList(n, v, what)
	case reflect.Map:
		p.decodeMap(n, v, what)
	case reflect.Interface:
		if any := p.decodeAny(n, what); any != nil {
			v.Set(reflect.ValueOf(any))
		}
	default:
		if n.Kind != yaml.ScalarNode || !setScalar(n, v) {
			if n.Kind == yaml.ScalarNode && v.CanInt() && n.ShortTag() == "!!int" {
				p.tooLarge(n, what)
				return
			}
			p.at(n, "%s must be %s, not %s", what, wanted(v.Kind()), kindName(n))
		} else if v.Type() == reflect.TypeFor[component.Path]() && n.Value == "" {
			p.at(n, "%s is empty; give a file or directory", what)
		}
	}
}

func (p *parser) decodeList(n *yaml.Node, v reflect.Value, what string) {
	if n.Kind != yaml.SequenceNode {
		p.at(n, "%s must be a list, not %s", what, kindName(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		p.decode(c, v.Index(i), fmt.Sprintf("%s[%d]", what, i))
	}
}

func (p *parser) decodeMap(n *yaml.Node, v reflect.Value, what string) {
	v.Set(reflect.MakeMap(v.Type()))
	for _, f := range p.fields(n, what) {
		e := reflect.New(v.Type().Elem()).Elem()
		p.decode(f.value, e, what+"."+f.key.Value)
		v.SetMapIndex(reflect.ValueOf(f.key.Value).Convert(v.Type().Key()), e)
	}
}

// decodeAny reads n into plain Go values: nil, bool, int64, float64, string,
// []any, and []component.Entry for mappings, whose order may matter.
func (p *parser) decodeAny(n *yaml.Node, what string) any {
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = p.decodeAny(c, what)
		}
		return list
	case yaml.MappingNode:
		entries := []component.Entry{}
		for _, f := range p.fields(n, what) {
			entries = append(entries, component.Entry{Key: f.key.Value, Value: p.decodeAny(f.value, what)})
		}
		return entries
	}
	for _, v := range []any{new(bool), new(int64), new(float64)} {
		if _, float := v.(*float64); float && n.ShortTag() == "!!int" { // which would be rounded
			p.tooLarge(n, what)
			return nil
		}
		if rv := reflect.ValueOf(v).Elem(); n.ShortTag() != "!!str" && setScalar(n, rv) {
			return rv.Interface()
		}
	}
	if n.ShortTag() == "!!null" {
		return nil
	}
	return n.Value
}

// setScalar sets v, a string, bool, int or float, from a scalar. It reads
// numbers as YAML 1.2 does, so 010 is ten.
func setScalar(n *yaml.Node, v reflect.Value) bool {
	tag := n.ShortTag()
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
		return tag != "!!null"
	case reflect.Bool:
		v.SetBool(strings.EqualFold(n.Value, "true"))
		return tag == "!!bool"
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, base(n.Value), 64)
		v.SetInt(i)
		return err == nil && tag == "!!int"
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		v.SetFloat(f)
		return err == nil && (tag == "!!float" || tag == "!!int") && !math.IsNaN(f)
	default:
		return false
	}
}

func (p *parser) tooLarge(n *yaml.Node, what string) {
	p.at(n, "%s is %s, too large for an integer of 64 bits; write a smaller one, or a float", what, display.Short(n.Value))
}

func base(s string) int {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o") {
		return 0
	}
	return 10
}

func wanted(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
	default:
		return "a number"
	}
}
