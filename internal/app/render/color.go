package render

import (
	"fmt"
	"strings"

	"github.com/larder-data/larder/component"
)

// A color has a name in the picture's style sheet, and values for light and dark
// pages.
type color struct{ name, light, dark string }

var (
	paper    = color{"paper", "#ffffff", "#0d1117"}
	ink      = color{"ink", "#1f2328", "#e6edf3"}
	faint    = color{"faint", "#59636e", "#9198a1"}
	wire     = color{"wire", "#7d8590", "#8b949e"} // edges
	panel    = color{"panel", "#f6f8fa", "#161b22"}
	source   = color{"source", "#1a7f37", "#238636"}
	operator = color{"operator", "#0b5cad", "#1f6feb"}
	sink     = color{"sink", "#c62828", "#cf3a36"}
	onFill   = color{"on-fill", "#ffffff", "#ffffff"} // text on the three above
	computed = color{"computed", "#d1620b", "#f0883e"}
	memory   = color{"memory", "#8250df", "#a371f7"}
	store    = color{"store", "#1b7c83", "#39c5cf"}
	failed   = color{"failed", "#d4006a", "#ff6bb5"}

	colors = []color{paper, ink, faint, wire, panel, source, operator, sink, onFill, computed, memory, store, failed}
)

func colorOf(k component.Kind) color {
	switch k {
	case component.Source:
		return source
	case component.Sink:
		return sink
	}
	return operator
}

// darkStyle is the style sheet for dark pages. Viewers without support show the
// light colors, which are attributes of the elements.
func darkStyle() string {
	var b strings.Builder
	b.WriteString("@media (prefers-color-scheme: dark) {\n")
	for _, c := range colors {
		fmt.Fprintf(&b, ".f-%s { fill: %s } .s-%s { stroke: %s }\n", c.name, c.dark, c.name, c.dark)
	}
	b.WriteString("}")
	return b.String()
}

// fill and stroke return attributes.
func fill(c color) string { return fmt.Sprintf(`class="f-%s" fill="%s"`, c.name, c.light) }
func stroke(c color) string {
	return fmt.Sprintf(`class="s-%s" fill="none" stroke="%s"`, c.name, c.light)
}

func filled(in, edge color) string {
	return fmt.Sprintf(`class="f-%s s-%s" fill="%s" stroke="%s"`, in.name, edge.name, in.light, edge.light)
}
