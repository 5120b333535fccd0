package flow

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// A Position is a position in a flow file, counted from 1. Zero means unknown,
// as for nodes built in Go.
type Position struct {
	File         string
	Line, Column int
}

// Position returns the position of the node's name.
func (n *Node) Position() Position {
	if n.pos == nil {
		return Position{}
	}
	return Position{File: n.file.file, Line: n.pos.Line, Column: n.pos.Column}
}

// Varies reports whether a parameter of the node may differ the next time the
// flow is read, because the file computes it from variables. It is true for all
// parameters of a node built in Go.
func (n *Node) Varies(param string) bool {
	return n.pos == nil || slices.Contains(n.varied, "") || slices.Contains(n.varied, param)
}

// variedIn lists the parameters that use variables; the name "" means all of
// them.
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

// pairs yields the keys and values of a mapping; any other node has none.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}
