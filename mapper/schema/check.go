package schema

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
)

// A Violation is one difference between a sample and a schema.
type Violation struct {
	Sample  int    `json:"sample"`
	Item    string `json:"item,omitempty"` // "" means the sample itself
	Path    string `json:"path,omitempty"` // in a document, as a JSON pointer
	Message string `json:"message"`
}

func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sample %d: ", v.Sample)
	if v.Item != "" {
		fmt.Fprintf(&b, "item %s: ", display.Name(v.Item))
	}
	if v.Path != "" {
		fmt.Fprintf(&b, "%s: ", v.Path)
	}
	return b.String() + v.Message
}

// Check returns the violations of the sample at a position, by item. Items that cannot
// be read or decoded are violations; the error is only that of ctx.
func (s *Schema) Check(ctx context.Context, index int, sample dataset.Sample) ([]Violation, error) {
	var all []Violation
	for _, k := range slices.Sorted(maps.Keys(s.Items)) {
		c := checker{item: k, index: index}
		if f, ok := sample.Field(k); ok {
			c.field(ctx, s.Items[k], f)
		} else if !s.Items[k].Optional {
			c.add("", "missing")
		}
		all = append(all, c.found...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	for _, k := range sample.Keys() {
		if s.Closed && s.Items[k] == nil {
			all = append(all, Violation{Sample: index, Item: k, Message: "not in the closed schema"})
		}
	}
	slices.SortStableFunc(all, compare)
	return all, nil
}

// compare orders violations by sample, then item, and keeps the order within an item.
func compare(a, b Violation) int {
	if a.Sample != b.Sample {
		return a.Sample - b.Sample
	}
	return strings.Compare(a.Item, b.Item)
}

type checker struct {
	item  string
	index int
	found []Violation
}

func (c *checker) add(path, format string, args ...any) {
	c.found = append(c.found, Violation{c.index, c.item, path, fmt.Sprintf(format, args...)})
}

func (c *checker) field(ctx context.Context, want *Item, f dataset.Field) {
	if want.Shared != nil && *want.Shared != f.Shared {
		c.add("", "shared is %v, want %v", f.Shared, *want.Shared)
	}
	if want.Kind == "" && want.Ext == nil {
		return
	}
	ext, err := f.Item.Ext(ctx)
	if err != nil {
		c.add("", "%v", err)
		return
	}
	if want.Ext != nil && !slices.Contains(want.Ext, strings.ToLower(ext)) {
		c.add("", "extension is %q, want %s", ext, anyOf(want.Ext))
	}
	if want.Kind == "" {
		return
	}
	v, err := f.Item.Value(ctx)
	if err != nil {
		c.add("", "%v", err)
		return
	}
	if kind := kindOf(ext, v); kind != want.Kind {
		c.add("", "kind is %s, want %s", kind, want.Kind)
		return
	}
	switch v := v.(type) {
	case image.Image:
		c.image(want, v)
	case *array.Array:
		c.array(want, v)
	}
	if want.compiled != nil {
		c.document(want.compiled.Validate(plain(v)))
	}
}

// kindOf returns the kind of a value decoded by an extension.
func kindOf(ext string, v any) Kind {
	format := dataset.FormatOf(ext)
	switch v.(type) {
	case image.Image:
		return Image
	case *array.Array:
		return Array
	}
	switch format {
	case "", "raw":
		return Bytes
	case "json", "yaml":
		return Document
	case "txt":
		return Text
	}
	return Other
}

func (c *checker) image(want *Item, img image.Image) {
	b := img.Bounds()
	if !want.Width.holds(b.Dx()) {
		c.add("", "width is %d, want %s", b.Dx(), want.Width)
	}
	if !want.Height.holds(b.Dy()) {
		c.add("", "height is %d, want %s", b.Dy(), want.Height)
	}
	if n, _ := array.Channels(img); want.Channels != nil && !slices.Contains(want.Channels, n) {
		c.add("", "has %d channels, want %s", n, anyOf(want.Channels))
	}
}

func (c *checker) array(want *Item, a *array.Array) {
	if want.DType != nil && !slices.Contains(want.DType, a.DType.String()) {
		c.add("", "element type is %v, want %s", a.DType, anyOf(want.DType))
	}
	if want.Shape == nil {
		return
	}
	fits := len(a.Shape) == len(want.Shape)
	for i := 0; fits && i < len(a.Shape); i++ {
		fits = want.Shape[i] == Any || int(want.Shape[i]) == a.Shape[i]
	}
	if !fits {
		c.add("", "shape is %v, want %v", a.Shape, want.Shape)
	}
}

// plain returns a document with JSON types: bytes, which YAML supports, become a
// string.
func plain(v any) any {
	switch v := v.(type) {
	case *big.Int:
		return json.Number(v.String())
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	}
	return v
}

// maxOfDocument bounds the violations reported for one document.
const maxOfDocument = 20

func (c *checker) document(err error) {
	if err == nil {
		return
	}
	failed, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		c.add("", "%v", err)
		return
	}
	c.causes(failed)
}

func (c *checker) causes(e *jsonschema.ValidationError) {
	if len(c.found) >= maxOfDocument {
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			c.causes(cause)
		}
		return
	}
	var path strings.Builder
	for _, name := range e.InstanceLocation {
		path.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	c.add(path.String(), "%s", e.BasicOutput().Error)
}

func anyOf[T any](list []T) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = fmt.Sprint(e)
	}
	return strings.Join(texts, " or ")
}
