package codec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/internal/text/yamltext"
)

// StrictYAML turns an [Ambiguity] into an error: scalars that YAML 1.1 and 1.2 read differently,
// and keys that are not strings.
var StrictYAML atomic.Bool

// yamlCodec reads one YAML 1.2 document (core schema) as nil, bool, int64, *big.Int
// (integers beyond int64), float64, string, []byte (of !!binary), []any and map[string]any.
// So y, n, yes, no, on, off and dates are strings, and 0777 is the number 777; a difference
// from YAML 1.1, as PyYAML reads and writes it, is a doubt. A plain key is its text as
// written, so 5 and true are ordinary keys. Duplicate keys, keys with parts, and tags of
// other types are errors that name the line. Merge keys (<<) are applied. A file without a
// document is nil.
//
// It writes such values with sorted keys, and quotes every string that any version of YAML
// could read as something else. Arrays, images and tables are errors, and go.yaml.in/yaml
// writes all other values.
var yamlCodec = Codec{
	Name:       "yaml",
	Extensions: []string{"yaml", "yml"},
	Lossless:   true,
	Decode:     func(b []byte) (any, error) { return notingYAML(b, nil) },
	Check:      checkWhole(func(b []byte) (any, error) { return notingYAML(b, nil) }),
	Noting:     notingYAML,
	Update: func(old []byte, v any) ([]byte, error) {
		b, err := guarded(func() ([]byte, error) { return updateYAML(old, v) })
		if err != nil {
			return nil, fmt.Errorf("yaml: %w", err)
		}
		return b, nil
	},
	Into: func(b []byte, ptr any) error {
		_, err := guarded(func() (any, error) { return nil, intoYAML(b, ptr) })
		if err != nil {
			return fmt.Errorf("yaml: %w", err)
		}
		return nil
	},
	Encode: func(v any) ([]byte, error) {
		b, err := guarded(func() ([]byte, error) { return encodeYAML(v) })
		if err != nil {
			return nil, fmt.Errorf("yaml: %w", err)
		}
		return b, nil
	},
}

func notingYAML(b []byte, note func(Ambiguity)) (any, error) {
	v, err := guarded(func() (any, error) { return decodeYAML(b, note) })
	if err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	return v, nil
}

// strictly tells how to fix scalars that StrictYAML refuses.
const strictly settingError = "quote strings, and write numbers that all readers decode alike"

func decodeYAML(b []byte, note func(Ambiguity)) (any, error) {
	doc, err := parseYAML(b)
	if err != nil || doc == nil {
		return nil, err
	}
	if !StrictYAML.Load() {
		return yamlReader{note}.value(doc)
	}
	var first *Ambiguity
	v, err := yamlReader{func(d Ambiguity) { first = cmp.Or(first, &d) }}.value(doc)
	if err == nil && first != nil {
		return nil, fmt.Errorf("%v; %w", *first, strictly)
	}
	return v, err
}

func intoYAML(b []byte, ptr any) error {
	doc, err := parseYAML(b)
	if err != nil || doc == nil {
		return err
	}
	return doc.Decode(ptr)
}

// parseYAML returns the root of the only document of b, within bounds, or nil if there is
// none.
func parseYAML(b []byte) (*yaml.Node, error) {
	if err := notText(b); err != nil {
		return nil, err
	}
	loader, err := yaml.NewLoader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var doc, more yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamltext.Explain(b, err)
	}
	switch err := loader.Load(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, yamltext.Explain(b, err)
	default:
		return nil, fmt.Errorf("line %d: second document; write one document per file", more.Line)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, errors.New("no document")
	}
	var bound yamlBound
	return doc.Content[0], bound.walk(doc.Content[0], 0, false)
}

func encodeYAML(v any) ([]byte, error) {
	node, err := yamlNode(v, 0)
	if err != nil {
		return nil, err
	}
	return yaml.Dump(node, yaml.WithLineWidth(-1))
}
