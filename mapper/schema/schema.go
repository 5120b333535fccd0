// Package schema provides schemas for samples: which items they have, and their kind,
// size and structure. A schema is a YAML file:
//
//	version: 1
//	closed: true                      # items that are not named are violations
//	items:
//	  image:
//	    kind: image                   # image, array, document, text or bytes
//	    ext: [jpeg, png]
//	    width: {min: 16, max: 4096}   # pixels
//	    height: {min: 16}
//	    channels: [3]                 # 1 grey, 3 colour, 4 with alpha
//	  points:
//	    optional: true
//	    kind: array
//	    dtype: [float32]
//	    shape: [any, 2]
//	  metadata:
//	    kind: document
//	    shared: false
//	    schema: {type: object, required: [color]}   # JSON Schema
//
// Missing fields impose no condition, and an item is read only as far as its schema
// requires.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/yamltext"
)

// A Schema describes the samples of a dataset. [Parse] and [Infer] return schemas. It
// is safe for concurrent use.
type Schema struct {
	Version int              `yaml:"version"`          // 1
	Closed  bool             `yaml:"closed,omitempty"` // items that are not named are violations
	Items   map[string]*Item `yaml:"items"`
}

// An Item describes one item of each sample.
type Item struct {
	Kind     Kind     `yaml:"kind,omitempty"`
	Optional bool     `yaml:"optional,omitempty"` // samples may lack it
	Shared   *bool    `yaml:"shared,omitempty"`   // nil allows both
	Ext      []string `yaml:"ext,omitempty,flow"` // any of these, in any case
	Width    *Range   `yaml:"width,omitempty,flow"`
	Height   *Range   `yaml:"height,omitempty,flow"`
	Channels []int    `yaml:"channels,omitempty,flow"` // any of these
	DType    []string `yaml:"dtype,omitempty,flow"`    // any of these
	Shape    []Dim    `yaml:"shape,omitempty,flow"`
	Schema   any      `yaml:"schema,omitempty"` // of a document: a JSON Schema

	compiled *jsonschema.Schema
}

// A Kind is the kind of an item's value.
type Kind string

// The kinds. The zero value is any.
const (
	Image    Kind = "image"
	Array    Kind = "array"
	Document Kind = "document" // JSON or YAML
	Text     Kind = "text"
	Bytes    Kind = "bytes" // of an unknown format
	Other    Kind = "other" // of any other format
)

// A Range is from Min to Max, inclusive; a Max of 0 means no bound.
type Range struct {
	Min int `yaml:"min,omitempty"`
	Max int `yaml:"max,omitempty"`
}

func (r *Range) holds(n int) bool { return r == nil || n >= r.Min && (r.Max == 0 || n <= r.Max) }

func (r *Range) String() string {
	if r.Max == 0 {
		return fmt.Sprintf("at least %d", r.Min)
	}
	return fmt.Sprintf("from %d to %d", r.Min, r.Max)
}

// A Dim is the length of an array along one dimension, or [Any].
type Dim int

// Any length along a dimension.
const Any Dim = -1

const anyWord = "any"

func (d Dim) String() string {
	if d == Any {
		return anyWord
	}
	return strconv.Itoa(int(d))
}

// UnmarshalYAML reads a length or the word any.
func (d *Dim) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == anyWord {
		*d = Any
		return nil
	}
	length, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || length < 0 {
		return fmt.Errorf("line %d: %q is not a length; write an integer of 0 or more, or any", n.Line, n.Value)
	}
	*d = Dim(length)
	return nil
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (d Dim) MarshalYAML() (any, error) {
	if d == Any {
		return anyWord, nil
	}
	return int(d), nil
}

// fields is a schema without methods, so that decoding calls none.
type fields Schema

// Parse parses a schema from the content of a YAML file, whose name appears in errors.
func Parse(file string, content []byte) (*Schema, error) {
	s := &Schema{}
	if err := yaml.Load(content, (*fields)(s), yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, yamltext.Explain(content, err))
	}
	if err := s.compile(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// YAML returns the schema as the content of a file for [Parse].
func (s *Schema) YAML() ([]byte, error) { return yaml.Dump(s) }

func (s *Schema) compile() error {
	if s.Version != 1 {
		return fmt.Errorf("version is %d; this program reads version: 1", s.Version)
	}
	for k, it := range s.Items {
		if it == nil {
			s.Items[k] = &Item{}
			continue
		}
		if err := it.compile(); err != nil {
			return fmt.Errorf("item %s: %w", display.Name(k), err)
		}
	}
	return nil
}

func (it *Item) compile() (err error) {
	kinds := []Kind{Image, Array, Document, Text, Bytes, Other}
	if it.Kind != "" && !slices.Contains(kinds, it.Kind) {
		return fmt.Errorf("kind cannot be %q; valid: %s", it.Kind, strings.Trim(fmt.Sprint(kinds), "[]"))
	}
	for of, asked := range map[Kind]bool{
		Image:    it.Width != nil || it.Height != nil || it.Channels != nil,
		Array:    it.DType != nil || it.Shape != nil,
		Document: it.Schema != nil,
	} {
		if asked && it.Kind != of {
			return fmt.Errorf("fields for an %s need kind: %s", of, of)
		}
	}
	for _, r := range []*Range{it.Width, it.Height} {
		if r != nil && (r.Min < 0 || r.Max < 0 || r.Max > 0 && r.Max < r.Min) {
			return fmt.Errorf("no image has %s pixels", r)
		}
	}
	for _, name := range it.DType {
		if _, err := array.ParseDType(name); err != nil {
			return err
		}
	}
	for i, ext := range it.Ext {
		it.Ext[i] = strings.ToLower(strings.TrimPrefix(ext, "."))
	}
	if it.Schema != nil {
		it.compiled, err = compileJSON(it.Schema)
	}
	return err
}

func compileJSON(schema any) (*jsonschema.Schema, error) {
	b, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothingOutside{})
	c.AssertFormat()
	if err := c.AddResource(here, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(here)
	if err != nil {
		return nil, fmt.Errorf("schema: %s", whyNoSchema(err))
	}
	return compiled, nil
}

// whyNoSchema describes the error in a JSON Schema and its position in one line.
func whyNoSchema(err error) string {
	var found []string
	for line := range strings.Lines(strings.ReplaceAll(err.Error(), here, "")) {
		m := wrongAt.FindStringSubmatch(strings.TrimSpace(line))
		if m != nil && !strings.HasSuffix(m[2], "failed") {
			found = append(found, strings.TrimPrefix(strings.ReplaceAll(m[1], "/", "."), ".")+": "+m[2])
		}
	}
	if len(found) > 0 {
		return "not a JSON Schema: " + strings.TrimPrefix(strings.Join(found, "; "), ": ")
	}
	if m := pointsNowhere.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("reference to %s, which the schema does not define", m[1])
	}
	return err.Error()
}

// here is the URL of a schema within itself.
const here = "larder:///schema"

var (
	wrongAt       = regexp.MustCompile(`^- at '(.*?)': (.*)$`)
	pointsNowhere = regexp.MustCompile(`json-pointer in ".*?(#.*)" not found`)
)

// nothingOutside prevents a schema from reading files and networks.
type nothingOutside struct{}

func (nothingOutside) Load(url string) (any, error) {
	return nil, errors.New("a schema cannot refer to the external " + url + "; copy it in")
}
