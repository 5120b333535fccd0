package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// title returns the tooltip of a node.
func (n node) title() string {
	lines := []string{fmt.Sprintf("%s: %s %s", n.Name, n.Component.Kind, n.Component.Name)}
	lines = append(lines, params(n.Component, n.Params)...)
	o := n.Options
	switch {
	case o.Auto:
		lines = append(lines, "checkpoint: auto")
	case o.Checkpoint:
		lines = append(lines, "checkpoint")
	}
	if o.Keep {
		lines = append(lines, "keep")
	}
	if c := o.Cache; c != nil {
		lines = append(lines, cacheLine(c.Policy, c.Size, c.Bytes))
	}
	if o.Workers > 0 {
		lines = append(lines, fmt.Sprintf("workers: %d", o.Workers))
	}
	if r := n.report; r != nil {
		lines = append(lines,
			fmt.Sprintf("samples: %d (%d computed, %d from memory, %d from the store, %d failed)", r.Samples, r.Computed, r.FromMemory, r.FromStore, r.Failed),
			fmt.Sprintf("seconds: %.3g (%.3g saved)", r.Seconds, r.SecondsSaved))
		if r.Decision != "" {
			lines = append(lines, r.Decision)
		}
	}
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Join(lines, "\n")
}

func cacheLine(policy string, size int, bytes int64) string {
	line := "cache: " + policy
	if size > 0 {
		line += fmt.Sprintf(", %d samples", size)
	}
	if bytes > 0 {
		line += fmt.Sprintf(", %d bytes", bytes)
	}
	return line
}

// params lists the parameters that differ from their defaults.
func params(c *component.Component, values any) (lines []string) {
	v := reflect.ValueOf(values)
	if v.Kind() != reflect.Struct || v.Type() != c.Type {
		return nil
	}
	for _, p := range c.Params {
		f := v.Field(p.Field)
		if text := value(f); !f.IsZero() && text != p.Default {
			lines = append(lines, "  "+p.Name+": "+fit(text, 1, longestValue))
		}
	}
	return lines
}

const longestValue = 60 // in full-width letters

// value writes a parameter on one line, as in a flow file.
func value(v reflect.Value) string {
	if component.IsStep(v.Type()) {
		step := v.Interface().(component.Step)
		if step.Component == nil {
			return ""
		}
		return step.Component.Name
	}
	if v.Type() == reflect.TypeFor[component.Path]() {
		return urlpath.Name(v.String())
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "null"
		}
		return value(v.Elem())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = value(v.Index(i))
		}
		if v.Type() == reflect.TypeFor[[]component.Entry]() {
			return "{" + strings.Join(parts, ", ") + "}"
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		var parts []string
		for it := v.MapRange(); it.Next(); {
			parts = append(parts, fmt.Sprint(it.Key())+": "+value(it.Value()))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Struct:
		if e, ok := v.Interface().(component.Entry); ok {
			return e.Key + ": " + value(reflect.ValueOf(&e.Value).Elem())
		}
	}
	return fmt.Sprint(v.Interface())
}

// edgeTitle returns the tooltip of an edge.
func (d *Drawing) edgeTitle(e edge) string {
	from := d.nodes[e.from].Name
	if e.output != "" {
		from += "." + e.output
	}
	return clean(from + " to " + d.nodes[e.to].Name)
}
