package render

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/larder-data/larder/component"
)

// Mermaid writes the drawing as a Mermaid flowchart, which many wikis and
// README pages show.
func (d *Drawing) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, n := range d.nodes {
		lines := n.lines()
		for j, line := range lines {
			lines[j] = entities(line)
		}
		lines[0] = "<b>" + lines[0] + "</b>"
		fmt.Fprintf(&b, "  n%d(\"%s\"):::%s\n", i, strings.Join(lines, "<br/>"), n.Component.Kind)
	}
	for _, e := range d.edges {
		arrow := "-->"
		switch {
		case e.several:
			arrow = "==>"
		case e.stream:
			arrow = "-.->"
		}
		if words := e.words(); words != "" {
			arrow += `|"` + entities(words) + `"|`
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", e.from, arrow, e.to)
	}
	for _, k := range component.Kinds() {
		c := colorOf(k)
		fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:%s\n", k, c.light, c.light, onFill.light)
	}
	for i, n := range d.nodes {
		if n.failed() {
			fmt.Fprintf(&b, "  style n%d stroke:%s,stroke-width:5px\n", i, failed.light)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// words describes the output of an edge, and its index among several inputs.
func (e edge) words() string {
	var words []string
	if e.output != "" {
		words = append(words, clean(e.output))
	}
	if e.numbered {
		words = append(words, "input "+e.number())
	}
	return strings.Join(words, ", ")
}

// entities encodes as entities all characters that are special in Mermaid, or in
// Markdown or HTML within its strings.
func entities(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,._-", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
