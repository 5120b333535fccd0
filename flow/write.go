package flow

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// YAML writes the flow as a file for its directory. Variables are replaced by
// their values, except epoch if it was not given. Included nodes are part of
// the file, and nodes of a sweep have names that can be written. It returns an
// error for nodes built from Go values, which cannot be written.
func (f *Flow) YAML() ([]byte, error) {
	top, _, err := f.written()
	if err != nil {
		return nil, err
	}
	return yaml.Dump(top, yaml.WithLineWidth(-1))
}

// written returns the document of the flow, and the uses of the variable epoch
// in it.
func (f *Flow) written() (*yaml.Node, []epochUse, error) {
	if top, uses, err := f.drawn(); top != nil || err != nil {
		return top, uses, err
	}
	top, err := f.asIs()
	return top, nil, err
}

// asIs returns the document of the flow with all variables replaced.
func (f *Flow) asIs() (*yaml.Node, error) {
	w := &writer{flow: f, names: f.writtenNames()}
	nodes := mapping()
	for _, n := range f.Nodes {
		v, err := w.node(n)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		put(nodes, w.names[n.Name], v)
	}
	top := mapping()
	put(top, "version", scalar("!!int", "1"))
	if l := writtenLimits(f.Limits); len(l.Content) > 0 {
		put(top, "limits", l)
	}
	put(top, "nodes", nodes)
	return top, nil
}

type writer struct {
	flow  *Flow
	names map[string]string // of nodes, as written
	data  bool              // write only what can change the data

	// anywhere leaves out the directories of local files, the credentials in
	// URLs, and the parameters of Go values, which have no name.
	anywhere bool
}

// writtenNames gives each node a name that a file may have.
func (f *Flow) writtenNames() map[string]string {
	names, taken := map[string]string{}, map[string]bool{}
	for _, n := range f.Nodes {
		name := strings.Map(func(r rune) rune {
			if nodeName.MatchString("a" + string(r)) {
				return r
			}
			return '-'
		}, n.Name)
		base := "n" + name
		if nodeName.MatchString(name) {
			base = name
		}
		for name, i := base, 2; ; name, i = fmt.Sprintf("%s-%d", base, i), i+1 {
			if !taken[name] && (name == n.Name || f.byName[name] == nil) {
				names[n.Name], taken[name] = name, true
				break
			}
		}
	}
	return names
}

func (w *writer) node(n *Node) (*yaml.Node, error) {
	if !n.Component.IsRegistered() {
		return nil, fmt.Errorf("a Go value (%s) cannot be written to a file", n.Component.Name)
	}
	m := mapping()
	put(m, string(n.Component.Kind), text(n.Component.Name))
	if from := w.from(n.From); from != nil {
		put(m, "from", from)
	}
	with, err := w.params(n, n.Component, n.Params)
	if err != nil {
		return nil, err
	}
	if len(with.Content) > 0 {
		put(m, "with", with)
	}
	w.putDir(m, n)
	writeOptions(m, n)
	return m, nil
}

func (w *writer) from(inputs []Input) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, in := range inputs {
		in.Node = w.names[in.Node]
		list.Content = append(list.Content, text(in.String()))
	}
	switch len(list.Content) {
	case 0:
		return nil
	case 1:
		return list.Content[0]
	}
	return list
}

// params returns the parameters that differ from their defaults.
func (w *writer) params(n *Node, c *component.Component, params any) (*yaml.Node, error) {
	m, v := mapping(), reflect.ValueOf(params)
	p := &parser{problems: &problems{}}
	for _, param := range c.Params {
		value, byItself := v.Field(param.Field), reflect.New(param.Type).Elem()
		p.setDefault(param, byItself)
		if !param.Required && reflect.DeepEqual(value.Interface(), byItself.Interface()) || w.data && param.How && !n.skips() {
			continue
		}
		y, err := w.value(n, value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", param.Name, err)
		}
		put(m, param.Name, y)
	}
	return m, nil
}

// value writes any value that parameters can have: see [component.Param].
func (w *writer) value(n *Node, v reflect.Value) (*yaml.Node, error) {
	switch value := v.Interface().(type) {
	case component.Path:
		if w.data && n.Component.Kind == component.Sink {
			return text(""), nil
		}
		if w.anywhere && value != "" {
			return text(nameAnywhere(string(value))), nil
		}
		return text(w.path(n, value)), nil
	case component.Step:
		return w.step(n, value)
	case []component.Entry:
		return w.entries(n, value)
	}
	switch v.Kind() {
	case reflect.String:
		return text(v.String()), nil
	case reflect.Bool:
		return scalar("!!bool", strconv.FormatBool(v.Bool())), nil
	case reflect.Int, reflect.Int64:
		return scalar("!!int", strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Float64:
		return float(v.Float()), nil
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return scalar("!!null", "null"), nil
		}
		return w.value(n, v.Elem())
	case reflect.Slice:
		return w.list(n, v)
	case reflect.Map:
		return w.mapping(n, v)
	}
	return nil, fmt.Errorf("a value of type %s cannot be written", v.Type())
}

func nameAnywhere(path string) string {
	if urlpath.Is(path) {
		return urlpath.Name(path)
	}
	return filepath.Base(path)
}

func (w *writer) step(n *Node, s component.Step) (*yaml.Node, error) {
	if s.Component == nil {
		return scalar("!!null", "null"), nil
	}
	m := mapping()
	put(m, "map", text(s.Component.Name))
	if !s.Component.IsRegistered() {
		if w.anywhere {
			return m, nil
		}
		return nil, fmt.Errorf("a Go value (%s) cannot be written to a file", s.Component.Name)
	}
	with, err := w.params(n, s.Component, s.Params)
	if err == nil && len(with.Content) > 0 {
		put(m, "with", with)
	}
	return m, err
}

func (w *writer) entries(n *Node, all []component.Entry) (*yaml.Node, error) {
	m := mapping()
	for _, e := range all {
		y, err := w.value(n, reflect.ValueOf(&e.Value).Elem())
		if err != nil {
			return nil, err
		}
		put(m, e.Key, y)
	}
	return m, nil
}

func (w *writer) list(n *Node, v reflect.Value) (*yaml.Node, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		y, err := w.value(n, v.Index(i))
		if err != nil {
			return nil, err
		}
		list.Content = append(list.Content, y)
	}
	return list, nil
}

func (w *writer) mapping(n *Node, v reflect.Value) (*yaml.Node, error) {
	m, values := mapping(), map[string]reflect.Value{}
	for _, k := range v.MapKeys() {
		values[k.String()] = v.MapIndex(k)
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		y, err := w.value(n, values[k])
		if err != nil {
			return nil, err
		}
		put(m, k, y)
	}
	return m, nil
}

func writeOptions(m *yaml.Node, n *Node) {
	o := n.Options
	if o.Keep {
		put(m, "keep", scalar("!!bool", "true"))
	}
	if o.Checkpoint {
		put(m, "checkpoint", scalar("!!bool", "true"))
	}
	if o.Auto {
		put(m, "checkpoint", text("auto"))
	}
	if c := o.Cache; c != nil {
		y := mapping()
		put(y, "policy", text(c.Policy))
		putNumber(y, "size", int64(c.Size))
		putNumber(y, "bytes", c.Bytes)
		put(m, "cache", y)
	}
	putNumber(m, "workers", int64(o.Workers))
	if o.OnError != nil && n.makes() {
		put(m, "on-error", text(o.OnError.String()))
	}
}

func writtenLimits(l Limits) *yaml.Node {
	m := mapping()
	putNumber(m, "pixels", l.Pixels)
	putNumber(m, "unpacked", l.Unpacked)
	putNumber(m, "item", l.Item)
	return m
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// text returns a string without variables.
func text(s string) *yaml.Node { return scalar("!!str", strings.ReplaceAll(s, "${", "$${")) }

// float returns a number that is read as one with a fraction.
func float(f float64) *yaml.Node {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eIN") {
		s += ".0"
	}
	return scalar("!!float", s)
}

func put(m *yaml.Node, name string, value *yaml.Node) {
	m.Content = append(m.Content, text(name), value)
}

func putNumber(m *yaml.Node, name string, n int64) {
	if n != 0 {
		put(m, name, scalar("!!int", strconv.FormatInt(n, 10)))
	}
}
