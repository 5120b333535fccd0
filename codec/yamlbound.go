package codec

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

const (
	// maxAliased bounds the values that aliases expand to in one document, because a few
	// lines can expand to billions.
	maxAliased = 1 << 17
	// maxYAMLDepth bounds nesting, because indentation grows with its square.
	maxYAMLDepth = 1000
)

// A yamlBound walks over a document with its aliases expanded.
type yamlBound struct {
	aliased int // values from aliases
}

func (w *yamlBound) walk(n *yaml.Node, depth int, inAlias bool) error {
	if depth > maxYAMLDepth {
		return fmt.Errorf("line %d: nested deeper than %d, or an alias of its own parent", n.Line, maxYAMLDepth)
	}
	if n.Kind == yaml.AliasNode {
		return w.walk(n.Alias, depth+1, true)
	}
	if inAlias {
		if w.aliased++; w.aliased > maxAliased {
			return fmt.Errorf("line %d: aliases expand to more than %d values", n.Line, maxAliased)
		}
	}
	for _, c := range n.Content {
		if err := w.walk(c, depth+1, inAlias); err != nil {
			return err
		}
	}
	return nil
}
