package flow

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// A Position is where something stands in a flow file, counted from 1. Zero is
// unknown, as of what is built in Go.
type Position struct {
	File         string
	Line, Column int
}

// Position is where the name of the node stands.
func (n *Node) Position() Position {
	if n.pos == nil {
		return Position{}
	}
	return Position{File: n.file.file, Line: n.pos.Line, Column: n.pos.Column}
}

// Varies reports whether a parameter of the node may be another one the next time
// that the flow is read: whether the file makes it of variables. Of a node built in
// Go any may be.
func (n *Node) Varies(param string) bool {
	return n.pos == nil || slices.Contains(n.varied, "") || slices.Contains(n.varied, param)
}

// variedIn lists the parameters in a node that variables are used in; one called ""
// stands for all of them.
func variedIn(node *yaml.Node) (names []string) {
	for name, with := range pairs(node) {
		if name != "with" {
			continue
		}
		if with.Kind != yaml.MappingNode || isSwitch(with) {
			return []string{""}
		}
		for name, value := range pairs(with) {
			if len(variablesIn(value)) > 0 {
				names = append(names, name)
			}
		}
	}
	return names
}

// pairs goes through the keys and values of a mapping; anything else has none.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}
