package codec

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A yamlReader converts nodes to values. It calls note, if set, for values that other
// readers read differently.
type yamlReader struct{ note func(Ambiguity) }

// value converts a node within bounds.
func (r yamlReader) value(n *yaml.Node) (any, error) {
	switch {
	case n.Kind == yaml.AliasNode:
		return r.value(n.Alias)
	case n.Kind == yaml.SequenceNode && n.Tag == "!!seq":
		return r.sequence(n)
	case n.Kind == yaml.MappingNode && n.Tag == "!!map":
		return r.mapping(n)
	case n.Kind == yaml.ScalarNode:
		return r.scalar(n)
	}
	return nil, unknownTag(n)
}

func (r yamlReader) sequence(n *yaml.Node) (any, error) {
	list := make([]any, len(n.Content))
	for i, c := range n.Content {
		var err error
		if list[i], err = r.value(c); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r yamlReader) mapping(n *yaml.Node) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Tag == "!!merge" {
			merged = append(merged, v)
			continue
		}
		name, err := r.key(k)
		if err != nil {
			return nil, err
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("line %d: duplicate key %q; remove one", k.Line, name)
		}
		if m[name], err = r.value(v); err != nil {
			return nil, err
		}
	}
	for _, from := range merged {
		if err := r.merge(m, from); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// key returns the name of a key: its text as written, for plain scalars too.
func (r yamlReader) key(n *yaml.Node) (string, error) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("line %d: the key is a list or a map; use a string", n.Line)
	}
	v, err := yamlReader{}.scalar(n)
	if err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		if r.note != nil && isPlain(n) && s != "=" { // "=" as a key is a string
			r.doubt(n, s)
		}
		return s, nil
	}
	if _, ok := v.([]byte); ok || n.Value == "" {
		return "", fmt.Errorf("line %d: key %q is not a string; quote it", n.Line, n.Value)
	}
	if r.note != nil {
		r.note(Ambiguity{n.Line, n.Value, fmt.Sprintf("%s as a value, but a string as a key", described(v))})
	}
	return n.Value, nil
}

// merge adds keys that m lacks, from a mapping or each of a sequence of mappings.
func (r yamlReader) merge(m map[string]any, from *yaml.Node) error {
	v, err := r.value(from)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		other, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("line %d: << needs a mapping", from.Line)
		}
		for k, v := range other {
			if _, has := m[k]; !has {
				m[k] = v
			}
		}
	}
	return nil
}

func unknownTag(n *yaml.Node) error {
	return fmt.Errorf("line %d: unsupported tag %s", n.Line, n.Tag)
}

// isPlain reports whether a scalar is neither quoted nor tagged.
func isPlain(n *yaml.Node) bool {
	const other = yaml.TaggedStyle | yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Style&other == 0
}

// scalar resolves a scalar: by an explicit tag, as a string if it is quoted, otherwise by
// the core schema.
func (r yamlReader) scalar(n *yaml.Node) (any, error) {
	if n.Tag == "!" { // a string in YAML 1.2; PyYAML ignores it
		return nil, unknownTag(n)
	}
	if n.Style&yaml.TaggedStyle == 0 {
		if !isPlain(n) {
			return n.Value, nil
		}
		v, err := plainYAML(n.Value)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
		if r.note != nil {
			r.doubt(n, v)
		}
		return v, nil
	}
	if n.Tag == "!!str" {
		return n.Value, nil
	}
	if n.Tag == "!!binary" {
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
		if err != nil {
			return nil, fmt.Errorf("line %d: !!binary value is not base64: %w", n.Line, inPlain("yaml", err))
		}
		return b, nil
	}
	v, err := plainYAML(n.Value)
	if err != nil {
		return nil, err
	}
	ok := false
	switch n.Tag {
	case "!!null":
		ok = v == nil
	case "!!bool":
		_, ok = v.(bool)
	case "!!int":
		_, ok = v.(int64)
		if !ok {
			_, ok = v.(*big.Int)
		}
	case "!!float":
		switch i := v.(type) {
		case int64:
			v = float64(i)
		case *big.Int:
			v, _ = i.Float64()
		}
		_, ok = v.(float64)
	default:
		return nil, unknownTag(n)
	}
	if !ok {
		return nil, fmt.Errorf("line %d: %q is not a %s", n.Line, n.Value, n.Tag)
	}
	return v, nil
}
