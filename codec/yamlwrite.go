package codec

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// yamlNode returns the node of a value.
func yamlNode(v any, depth int) (*yaml.Node, error) {
	if depth > maxYAMLDepth {
		return nil, fmt.Errorf("nested deeper than %d, or contains itself", maxYAMLDepth)
	}
	switch v := v.(type) {
	case nil:
		return scalar("!!null", "null"), nil
	case bool:
		return scalar("!!bool", strconv.FormatBool(v)), nil
	case int64:
		return scalar("!!int", strconv.FormatInt(v, 10)), nil
	case *big.Int:
		if v == nil {
			return scalar("!!null", "null"), nil
		}
		return scalar("!!int", v.String()), nil
	case float64:
		return scalar("!!float", yamlFloatText(v)), nil
	case string:
		return yamlText(v)
	case []byte:
		n := scalar("!!binary", base64.StdEncoding.EncodeToString(v))
		n.Style = yaml.TaggedStyle
		return n, nil
	case []any:
		return sequenceNode(v, depth)
	case map[string]any:
		return mappingNode(v, depth)
	}
	if err := noDocument("yaml", v); err != nil {
		return nil, err
	}
	b, err := yaml.Dump(v)
	if err != nil {
		return nil, err
	}
	n, err := parseYAML(b)
	if err != nil {
		return nil, err
	}
	return canonical(n)
}

func scalar(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

func sequenceNode(list []any, depth int) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, v := range list {
		c, err := yamlNode(v, depth+1)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, c)
	}
	return n, nil
}

func mappingNode(m map[string]any, depth int) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key, err := yamlText(k)
		if err != nil {
			return nil, err
		}
		c, err := yamlNode(m[k], depth+1)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, key, c)
	}
	return n, nil
}

// canonical converts nodes that go.yaml.in/yaml wrote to the form of yamlNode.
func canonical(n *yaml.Node) (*yaml.Node, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		v, err := yamlReader{}.scalar(n)
		if err != nil {
			return nil, err
		}
		return yamlNode(v, 0)
	case yaml.SequenceNode:
		out := &yaml.Node{Kind: n.Kind, Tag: n.Tag}
		for _, c := range n.Content {
			c, err := canonical(c)
			if err != nil {
				return nil, err
			}
			out.Content = append(out.Content, c)
		}
		return out, nil
	case yaml.MappingNode:
		return canonicalMapping(n)
	}
	return nil, unknownTag(n)
}

func canonicalMapping(n *yaml.Node) (*yaml.Node, error) {
	values := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Tag != "!!str" {
			return nil, fmt.Errorf("key %s is not a string; use string keys", n.Content[i].Value)
		}
		k, err := yamlReader{}.key(n.Content[i])
		if err != nil {
			return nil, err
		}
		if values[k], err = canonical(n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		key, err := yamlText(k)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, key, values[k])
	}
	return out, nil
}

// yamlFloatText formats a float so that YAML 1.1 and 1.2 read a float: both need a point,
// 1.1 also a sign of the exponent.
func yamlFloatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if exponent != "" {
		return mantissa + "e" + exponent
	}
	return mantissa
}

// clearText matches what every version of YAML reads as a string, apart from yamlWords.
var clearText = regexp.MustCompile(`^[A-Za-z_](?:[A-Za-z0-9_ ./-]*[A-Za-z0-9_./-])?$`)

// yamlWords have a meaning in YAML 1.1 or 1.2, in any case.
var yamlWords = map[string]bool{
	"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true,
	"true": true, "false": true, "null": true,
}

func yamlText(s string) (*yaml.Node, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("%q is not UTF-8 text; bytes can be written from a []byte", s)
	}
	n := scalar("!!str", s)
	if !clearText.MatchString(s) || yamlWords[strings.ToLower(s)] {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n, nil
}
