package render

import (
	"fmt"
	"io"
	"strings"
)

// DOT writes the drawing in the language of Graphviz.
func (d *Drawing) DOT(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", quote(clean(d.name)))
	b.WriteString("  rankdir=LR\n")
	fmt.Fprintf(&b, "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontcolor=%q, penwidth=0]\n", onFill.light)
	fmt.Fprintf(&b, "  edge [fontname=\"Helvetica\", fontsize=11, color=%q]\n", wire.light)
	for i, n := range d.nodes {
		outline := ""
		if n.failed() {
			outline = fmt.Sprintf(", penwidth=4, color=%q", failed.light)
		}
		fmt.Fprintf(&b, "  n%d [label=%s, fillcolor=%q%s, tooltip=%s]\n",
			i, quote(strings.Join(n.lines(), "\n")), colorOf(n.Component.Kind).light, outline, quote(n.title()))
	}
	for _, e := range d.edges {
		var attributes []string
		if e.several {
			attributes = append(attributes, "penwidth=4")
		}
		if e.stream {
			attributes = append(attributes, "style=dashed")
		}
		if e.output != "" {
			attributes = append(attributes, "label="+quote(clean(e.output)))
		}
		if e.numbered {
			attributes = append(attributes, "headlabel="+quote(e.number()))
		}
		fmt.Fprintf(&b, "  n%d -> n%d", e.from, e.to)
		if attributes != nil {
			fmt.Fprintf(&b, " [%s]", strings.Join(attributes, ", "))
		}
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// quote writes a DOT string. Graphviz treats & as the start of an entity and \ as
// that of an escape.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`).Replace(s) + `"`
}

// lines returns the text of a node, with icons and bars of the picture as words.
func (n node) lines() []string {
	lines := []string{clean(n.Name), clean(n.Component.Name)}
	var marks []string
	for _, b := range n.badges() {
		marks = append(marks, b.words())
	}
	if marks != nil {
		lines = append(lines, strings.Join(marks, ", "))
	}
	if n.report == nil {
		return lines
	}
	samples, hits := n.counted()
	if hits != "" {
		samples += ", " + hits
	}
	lines = append(lines, samples)
	var texts []string
	for _, s := range n.shares() {
		texts = append(texts, s.text())
	}
	if texts != nil {
		lines = append(lines, strings.Join(texts, ", "))
	}
	return lines
}

// words describes a badge's icon.
func (b badge) words() string {
	word := map[icon]string{pin: "checkpoint", disk: "keep", chip: "cache"}[b.icon]
	if b.text != "" {
		word += " " + b.text
	}
	return word
}
