package codec

import (
	"encoding/base64"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// yamlValue makes the value of a node within bounds.
func yamlValue(n *yaml.Node) (any, error) {
	switch {
	case n.Kind == yaml.AliasNode:
		return yamlValue(n.Alias)
	case n.Kind == yaml.SequenceNode && n.Tag == "!!seq":
		return yamlSequence(n)
	case n.Kind == yaml.MappingNode && n.Tag == "!!map":
		return yamlMapping(n)
	case n.Kind == yaml.ScalarNode:
		return yamlScalar(n)
	}
	return nil, unknownTag(n)
}

func yamlSequence(n *yaml.Node) (any, error) {
	list := make([]any, len(n.Content))
	for i, c := range n.Content {
		var err error
		if list[i], err = yamlValue(c); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func yamlMapping(n *yaml.Node) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Tag == "!!merge" {
			merged = append(merged, v)
			continue
		}
		name, err := yamlKey(k)
		if err != nil {
			return nil, err
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("line %d: the key %q is given twice", k.Line, name)
		}
		if m[name], err = yamlValue(v); err != nil {
			return nil, err
		}
	}
	for _, from := range merged {
		if err := mergeYAML(m, from); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func yamlKey(n *yaml.Node) (string, error) {
	k, err := yamlValue(n)
	if err != nil {
		return "", err
	}
	if s, ok := k.(string); ok {
		return s, nil
	}
	return "", fmt.Errorf("line %d: the key %v is no string; put quotes around it", n.Line, k)
}

// mergeYAML adds what m has not got from a mapping, or from each of a sequence
// of mappings.
func mergeYAML(m map[string]any, from *yaml.Node) error {
	v, err := yamlValue(from)
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
			return fmt.Errorf("line %d: << merges mappings and nothing else", from.Line)
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
	return fmt.Errorf("line %d: values with the tag %s are not read", n.Line, n.Tag)
}

// yamlScalar resolves a scalar: by its tag if one is written, as a string if
// it is quoted, and otherwise by the core schema.
func yamlScalar(n *yaml.Node) (any, error) {
	if n.Style&yaml.TaggedStyle == 0 {
		const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
		if n.Style&quoted != 0 {
			return n.Value, nil
		}
		return plainYAML(n.Value)
	}
	if n.Tag == "!!str" {
		return n.Value, nil
	}
	if n.Tag == "!!binary" {
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
		if err != nil {
			return nil, fmt.Errorf("line %d: !!binary: %w", n.Line, err)
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
	case "!!float":
		if i, isInt := v.(int64); isInt {
			v = float64(i)
		}
		_, ok = v.(float64)
	default:
		return nil, unknownTag(n)
	}
	if !ok {
		return nil, fmt.Errorf("line %d: %q is no %s", n.Line, n.Value, n.Tag)
	}
	return v, nil
}
