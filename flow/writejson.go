package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// JSON writes the flow as [Flow.YAML] does, in the order of its nodes, for
// programs that process its parts. It is not a flow file: strings are literal,
// without the escape for "${". If the flow uses the variable epoch, "epoch"
// lists the uses. In each, "at" holds the names and numbers on the path to the
// value, and "text" holds what a flow file has there.
func (f *Flow) JSON() ([]byte, error) {
	top, uses, err := f.written()
	if err != nil {
		return nil, err
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, u := range uses {
		use := mapping()
		put(use, "at", &yaml.Node{Kind: yaml.SequenceNode, Content: u.path})
		put(use, "text", text(u.value.Value)) // escapes each ${, as JSON removes one escape
		list.Content = append(list.Content, use)
	}
	if len(uses) > 0 {
		put(top, "epoch", list)
	}
	return appendJSON(nil, top)
}

// appendJSON appends the JSON form of a node of a flow file.
func appendJSON(b []byte, n *yaml.Node) ([]byte, error) {
	if n.Kind == yaml.ScalarNode {
		return appendScalar(b, n)
	}
	open, end := byte('['), byte(']')
	if n.Kind == yaml.MappingNode {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			b = append(b, ':')
		case i > 0:
			b = append(b, ',')
		}
		var err error
		if b, err = appendJSON(b, c); err != nil {
			return nil, err
		}
	}
	return append(b, end), nil
}

func appendScalar(b []byte, n *yaml.Node) ([]byte, error) {
	if n.Tag != "!!str" {
		if !json.Valid([]byte(n.Value)) {
			return nil, fmt.Errorf("%s is not a JSON number", n.Value)
		}
		return append(b, n.Value...), nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(strings.ReplaceAll(n.Value, "$${", "${")); err != nil {
		return nil, err
	}
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...), nil
}
