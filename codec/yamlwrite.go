package codec

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// A yamlWriter makes nodes of values.
type yamlWriter struct{ plain bool }

func (w yamlWriter) node(v any, depth int) (*yaml.Node, error) {
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
	case float64:
		return scalar("!!float", yamlFloatText(v)), nil
	case string:
		return yamlText(v)
	case []byte:
		n := scalar("!!binary", base64.StdEncoding.EncodeToString(v))
		n.Style = yaml.TaggedStyle
		return n, nil
	case []any:
		return w.sequence(v, depth)
	case map[string]any:
		return w.mapping(v, depth)
	}
	if w.plain {
		return nil, fmt.Errorf("a %T cannot be written", v)
	}
	// Any other value becomes what it reads back as.
	b, err := yaml.Dump(v)
	if err != nil {
		return nil, err
	}
	if v, err = decodeYAML(b); err != nil {
		return nil, err
	}
	return yamlWriter{plain: true}.node(v, depth)
}

func scalar(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

func (w yamlWriter) sequence(list []any, depth int) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, v := range list {
		c, err := w.node(v, depth+1)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, c)
	}
	return n, nil
}

func (w yamlWriter) mapping(m map[string]any, depth int) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key, err := yamlText(k)
		if err != nil {
			return nil, err
		}
		c, err := w.node(m[k], depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		n.Content = append(n.Content, key, c)
	}
	return n, nil
}

// yamlFloatText writes a float so that YAML 1.1 and 1.2 read a float: both
// need a point, 1.1 also a sign of the exponent.
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

// clearText matches what every version of YAML reads as a string, except for
// the words in yamlWords.
var clearText = regexp.MustCompile(`^[A-Za-z_](?:[A-Za-z0-9_ ./-]*[A-Za-z0-9_./-])?$`)

// yamlWords mean something in YAML 1.1 or 1.2, in any case.
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
