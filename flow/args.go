package flow

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"go.yaml.in/yaml/v4"
)

// An Arg is one value of a parameter, given as a string outside of a flow file.
type Arg struct {
	Name string // of the parameter
	Text string
	Flag string // name that the user sees, such as --times; errors begin with it
}

// Params reads parameters of a component from strings. The result, its defaults
// and its errors are those of a node in a flow file with the same parameters.
//
// A string parameter takes the value literally. Numbers and booleans are
// written as in YAML. A list has one Arg per element, a map one NAME=VALUE per
// entry. Nested values, such as a mapper or a list of lists, are written in
// YAML.
func Params(c *component.Component, args []Arg) (any, error) {
	p := &parser{problems: &problems{}}
	var with []field
	for i, a := range args {
		with = p.arg(c, with, i+1, a)
	}
	var params any
	if len(p.list) == 0 {
		params = p.params(c, &yaml.Node{}, with)
	}
	var all []error
	for _, e := range p.list {
		if e.Line > 0 {
			e.Msg = args[e.Line-1].Flag + ": " + e.Msg
		}
		all = append(all, errors.New(e.Msg))
	}
	return params, errors.Join(all...)
}

// arg adds an argument to the fields read so far. Its nodes get its number as
// their line, so that errors identify the argument.
func (p *parser) arg(c *component.Component, with []field, number int, a Arg) []field {
	t := reflect.TypeFor[string]()
	if i := slices.IndexFunc(c.Params, func(p component.Param) bool { return p.Name == a.Name }); i >= 0 {
		t = c.Params[i].Type
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	at := slices.IndexFunc(with, func(f field) bool { return f.key.Value == a.Name })
	if at < 0 {
		at = len(with)
		with = append(with, field{&yaml.Node{Kind: yaml.ScalarNode, Value: a.Name, Line: number}, nil})
	}
	f := &with[at]
	switch t.Kind() {
	case reflect.Slice:
		f.collect(yaml.SequenceNode, number, p.text(t.Elem(), number, a.Text))
	case reflect.Map:
		name, value, ok := strings.Cut(a.Text, "=")
		if !ok {
			p.add(number, 0, fmt.Sprintf("%q is malformed; write NAME=VALUE", a.Text))
		}
		f.collect(yaml.MappingNode, number, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: number}, p.text(t.Elem(), number, value))
	default:
		if f.value != nil {
			p.add(number, 0, "is given twice; remove one")
		}
		f.value = p.text(t, number, a.Text)
	}
	return with
}

// collect adds nodes to a field that is a list or a map.
func (f *field) collect(kind yaml.Kind, line int, nodes ...*yaml.Node) {
	if f.value == nil {
		f.value = &yaml.Node{Kind: kind, Line: line}
	}
	f.value.Content = append(f.value.Content, nodes...)
}

// text returns the node that a flow file would have for a string.
func (p *parser) text(t reflect.Type, number int, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if t.Kind() != reflect.String {
		n = p.inner(number, text)
	}
	mark(n, number)
	return n
}

func (p *parser) inner(number int, text string) *yaml.Node {
	null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	if strings.TrimSpace(text) == "" {
		return null
	}
	var wrong problems
	n := document([]byte(text), &wrong)
	for _, e := range wrong.list {
		p.add(number, 0, e.Msg)
	}
	if n == nil {
		return null
	}
	return n
}

// mark sets the line of a node and of all nodes within it.
func mark(n *yaml.Node, line int) {
	n.Line, n.Column = line, 0
	for _, c := range n.Content {
		mark(c, line)
	}
}
