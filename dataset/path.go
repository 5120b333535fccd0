package dataset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/internal/text/display"
)

// A Path locates a value in a document: a key of the sample, then fields of
// maps and positions in lists. It has the syntax of expressions,
//
//	metadata.color    boxes[0].x    boxes[-1]    metadata["a key with . in it"]
//
// and a position may also be written as a field: boxes.0.x or boxes.-1. Negative
// positions count from the end.
type Path struct {
	Item  string // the key of the item
	steps []step
}

// A step selects a field of a map or, if it is a number, a position in a list.
type step struct {
	text   string
	index  int
	number bool
}

// ParsePath parses a path.
func ParsePath(s string) (Path, error) {
	var p Path
	rest := s
	for rest != "" {
		st, after, err := nextStep(rest)
		if err != nil {
			return Path{}, fmt.Errorf("path %q: %w", s, err)
		}
		p.steps = append(p.steps, st)
		if rest = after; rest == "." {
			return Path{}, fmt.Errorf("path %q: name after the last dot is missing", s)
		}
		if strings.HasPrefix(rest, ".") {
			rest = rest[1:]
		} else if rest != "" && rest[0] != '[' {
			return Path{}, fmt.Errorf("path %q: a dot is missing before %q", s, rest)
		}
	}
	if p.steps == nil {
		return Path{}, errors.New("the item key at the beginning is missing")
	}
	p.Item, p.steps = p.steps[0].text, p.steps[1:]
	return p, nil
}

// nextStep splits the first step off a non-empty path.
func nextStep(s string) (st step, rest string, err error) {
	if s[0] != '[' {
		end := strings.IndexAny(s, ".[]")
		if end < 0 {
			end = len(s)
		}
		if end == 0 {
			return st, "", fmt.Errorf("a name is missing before %q", s)
		}
		st.text = s[:end]
		st.index, err = strconv.Atoi(st.text)
		st.number = err == nil
		return st, s[end:], nil
	}
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		end := strings.Index(s[2:], s[1:2]+"]")
		if end < 0 {
			return st, "", fmt.Errorf("%s is unterminated", s)
		}
		return step{text: s[2 : 2+end]}, s[2+end+2:], nil
	}
	inside, rest, ok := strings.Cut(s[1:], "]")
	if st.index, err = strconv.Atoi(inside); !ok || err != nil {
		return st, "", fmt.Errorf("%s: brackets need an integer or a quoted string", s)
	}
	return step{text: inside, index: st.index, number: true}, rest, nil
}

// String returns the path in dot notation.
func (p Path) String() string { return p.to(len(p.steps)) }

// to returns the path up to its first n steps.
func (p Path) to(n int) string {
	var b strings.Builder
	b.WriteString(p.Item)
	for _, st := range p.steps[:n] {
		if strings.ContainsAny(st.text, ".[]") || st.text == "" {
			fmt.Fprintf(&b, "[%q]", st.text)
		} else {
			b.WriteString("." + st.text)
		}
	}
	return b.String()
}

// Inside reports whether the path locates a value inside an item.
func (p Path) Inside() bool { return len(p.steps) > 0 }

// Leads reports whether q is at p or inside the value at p.
func (p Path) Leads(q Path) bool {
	return p.Item == q.Item && len(p.steps) <= len(q.steps) &&
		slices.EqualFunc(p.steps, q.steps[:len(p.steps)], func(a, b step) bool { return a.text == b.text })
}

// A NoValueError says that a document has no value at a path.
type NoValueError struct {
	Path   string // the existing part, and the first missing step
	Reason string
}

func (e *NoValueError) Error() string { return e.Path + ": " + e.Reason }

// Get returns the value at a path: see [Path]. It must not be changed. If there is none,
// the error is a [*NoItemError] or a [*NoValueError].
func (s Sample) Get(ctx context.Context, path string) (any, error) {
	p, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	v, err := s.Value(ctx, p.Item)
	if err != nil {
		return nil, err
	}
	for n, st := range p.steps {
		var reason string
		if v, reason = st.in(v); reason != "" {
			return nil, &NoValueError{p.to(n + 1), reason}
		}
	}
	return v, nil
}

// in returns the part of v that the step selects, or the reason why there is none.
func (st step) in(v any) (part any, reason string) {
	switch v := v.(type) {
	case map[string]any:
		part, ok := v[st.text]
		if !ok {
			return nil, "no such field; fields are " + fieldNames(v)
		}
		return part, ""
	case []any:
		i, reason := st.position(len(v))
		if reason != "" {
			return nil, reason
		}
		return v[i], ""
	default:
		return nil, fmt.Sprintf("%s has no parts", display.Value(v))
	}
}

// position returns the index of the step in a list of n elements.
func (st step) position(n int) (i int, reason string) {
	switch {
	case !st.number:
		return 0, "a list has indices, not fields"
	case st.index < -n || st.index >= n:
		return 0, fmt.Sprintf("the list has %d elements", n)
	case st.index < 0:
		return st.index + n, ""
	}
	return st.index, ""
}

func fieldNames(v map[string]any) string {
	const most = 20
	if len(v) == 0 {
		return "none"
	}
	names := slices.Sorted(maps.Keys(v))
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return strings.Join(names, ", ")
}

// Set returns s with another value at the path. It reads the document now. The result
// has a new item that belongs to the sample, with the extension of the old; the old
// document is unchanged. Bytes that the value does not affect are preserved, with
// numbers, order and comments. Missing parts of the path are created: maps, an element
// at the end of a list, and the item itself, as a JSON document. The value must not be
// changed afterwards.
func (s Sample) Set(ctx context.Context, path string, value any) (Sample, error) {
	p, err := ParsePath(path)
	if err != nil {
		return Sample{}, err
	}
	ext := "json"
	if f, has := s.Field(p.Item); has {
		if ext, err = f.Item.Ext(ctx); err != nil {
			return Sample{}, fmt.Errorf("item %s: %w", display.Name(p.Item), err)
		}
	}
	return s.SetAll(ctx, ext, Setting{p, value})
}

// A Setting is a value and its path in a sample.
type Setting struct {
	Path  Path
	Value any
}

// SetAll applies several settings in order, as [Sample.Set] does, and reads and writes
// each item once. Items that are missing, or replaced as a whole, get the extension ext.
func (s Sample) SetAll(ctx context.Context, ext string, settings ...Setting) (Sample, error) {
	out := s
	var done []string
	for _, first := range settings {
		name := first.Path.Item
		if slices.Contains(done, name) {
			continue
		}
		done = append(done, name)
		of := slices.DeleteFunc(slices.Clone(settings), func(o Setting) bool { return o.Path.Item != name })
		it, err := s.setItem(ctx, ext, of)
		if err != nil {
			return Sample{}, err
		}
		out = out.WithItem(name, it)
	}
	return out, nil
}

// setItem returns an item of s with the settings applied.
func (s Sample) setItem(ctx context.Context, ext string, settings []Setting) (*Item, error) {
	name := settings[0].Path.Item
	f, has := s.Field(name)
	within := has && !slices.ContainsFunc(settings, func(o Setting) bool { return !o.Path.Inside() })
	var doc any
	var err error
	if within {
		if doc, err = s.Value(ctx, name); err != nil {
			return nil, err
		}
		if ext, err = f.Item.Ext(ctx); err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(name), err)
		}
	}
	for _, o := range settings {
		if doc, err = o.Path.put(doc, 0, o.Value); err != nil {
			return nil, err
		}
	}
	update := codecFor(ext).Update
	if !within || update == nil {
		return NewItem(ext, doc), nil
	}
	b, err := f.Item.Bytes(ctx)
	if err == nil {
		b, err = update(b, doc)
	}
	if err != nil {
		return nil, fmt.Errorf("item %s: %w", display.Name(name), err)
	}
	return NewBytes(ext, b), nil
}

// put returns v with value at the steps from n on. It copies maps and lists on the path.
func (p Path) put(v any, n int, value any) (any, error) {
	if n == len(p.steps) {
		return value, nil
	}
	st := p.steps[n]
	switch v := v.(type) {
	case nil:
		if st.number {
			return nil, &NoValueError{p.to(n + 1), "no such list"}
		}
		part, err := p.put(nil, n+1, value)
		return map[string]any{st.text: part}, err
	case map[string]any:
		part, err := p.put(v[st.text], n+1, value)
		out := maps.Clone(v)
		out[st.text] = part
		return out, err
	case []any:
		if st.number && st.index == len(v) {
			part, err := p.put(nil, n+1, value)
			return append(slices.Clip(v), part), err
		}
		i, reason := st.position(len(v))
		if reason != "" {
			return nil, &NoValueError{p.to(n + 1), reason}
		}
		part, err := p.put(v[i], n+1, value)
		out := slices.Clone(v)
		out[i] = part
		return out, err
	default:
		_, reason := st.in(v)
		return nil, &NoValueError{p.to(n + 1), reason}
	}
}
