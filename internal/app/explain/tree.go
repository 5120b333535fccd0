package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Tree is a graph of computations, each after its dependencies.
type Tree struct{ Nodes []TreeNode }

// A TreeNode is one computation of a [Tree].
type TreeNode struct {
	ID     string // unique in the tree
	Label  string // "stats (image-stats)"
	Note   string // "26 of 26 cached, 1.2s to compute"
	Cached bool
	From   []string // IDs
}

const maxTree = 10_000

// TreeOf follows the dependencies of a stored result, as far as the store knows
// them.
func TreeOf(ctx context.Context, s store.Records, k key.Key) (Tree, error) {
	infos := map[key.Key]store.Info{}
	for info, err := range s.Records(ctx) {
		if err != nil {
			return Tree{}, err
		}
		infos[info.Key] = info
	}
	var t Tree
	reader := records.ProvenanceReader{Store: s}
	seen := map[key.Key]bool{k: true}
	queue := []key.Key{k}
	for len(queue) > 0 && len(t.Nodes) < maxTree {
		k := queue[0]
		queue = queue[1:]
		node, from := treeNode(ctx, &reader, infos, k)
		for _, f := range from {
			node.From = append(node.From, f.String())
			if !seen[f] {
				seen[f] = true
				queue = append(queue, f)
			}
		}
		t.Nodes = append(t.Nodes, node)
	}
	slices.Reverse(t.Nodes)
	return t, nil
}

func treeNode(ctx context.Context, reader *records.ProvenanceReader, infos map[key.Key]store.Info, k key.Key) (n TreeNode, from []key.Key) {
	n = TreeNode{ID: k.String(), Label: k.String()[:11], Note: "not in the store"}
	info, ok := infos[k]
	if !ok {
		return n, nil
	}
	n.Cached = true
	value := info
	if !info.Link.IsZero() {
		value = infos[info.Link]
	}
	n.Note = fmt.Sprintf("%s, %v to compute", bytesText(value.Size), value.Cost.Round(time.Microsecond))
	parts, err := reader.Parts(ctx, k)
	if errors.Is(err, store.ErrNotFound) {
		return n, nil
	}
	if err != nil {
		n.Note += ", description damaged"
		return n, nil
	}
	if name := operation(parts); name != "" {
		n.Label = name + " " + n.Label
	}
	for _, p := range parts {
		if p.Kind != key.InputPart {
			continue
		}
		word, _, _ := strings.Cut(p.Value, " ")
		if in, err := key.ParseKey(word); err == nil {
			from = append(from, keyIn(reader.Store, in))
		}
	}
	return n, from
}

// keyIn returns the key under which a store lists k.
func keyIn(s store.Records, k key.Key) key.Key {
	if in, ok := s.(interface{ KeyOf(key.Key) key.Key }); ok {
		return in.KeyOf(k)
	}
	return k
}

func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// WriteText writes a human-readable tree: roots first, their dependencies below. A
// node that appeared before is only named.
func (t Tree) WriteText(w io.Writer) error {
	p := printer{w: w, nodes: map[string]TreeNode{}, seen: map[string]bool{}}
	used := map[string]bool{}
	for _, n := range t.Nodes {
		p.nodes[n.ID] = n
		for _, f := range n.From {
			used[f] = true
		}
	}
	for _, n := range slices.Backward(t.Nodes) {
		if !used[n.ID] {
			p.write(n.ID)
		}
	}
	return p.err
}

type printer struct {
	w     io.Writer
	nodes map[string]TreeNode
	seen  map[string]bool
	err   error
}

// write writes a root and all below it. It does not recurse, because a chain may be
// long.
func (p *printer) write(id string) {
	type line struct {
		id, first, rest string // prefixes of its first line, and of those below
	}
	stack := []line{{id: id}}
	for len(stack) > 0 && p.err == nil {
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n, ok := p.nodes[l.id]
		if !ok {
			n = TreeNode{ID: l.id, Label: l.id, Note: "not shown"}
		}
		mark := "[ ]"
		if n.Cached {
			mark = "[x]"
		}
		if p.seen[l.id] {
			_, p.err = fmt.Fprintf(p.w, "%s%s %s: see above\n", l.first, mark, n.Label)
			continue
		}
		p.seen[l.id] = true
		_, p.err = fmt.Fprintf(p.w, "%s%s %s: %s\n", l.first, mark, n.Label, n.Note)
		for i, f := range slices.Backward(n.From) {
			next := line{f, l.rest + "├─ ", l.rest + "│  "}
			if i == len(n.From)-1 {
				next = line{f, l.rest + "└─ ", l.rest + "   "}
			}
			stack = append(stack, next)
		}
	}
}

// WriteDOT writes the tree in the language of Graphviz.
func (t Tree) WriteDOT(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph larder {\n  rankdir=LR\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"]\n")
	for _, n := range t.Nodes {
		fill := "#ffffff"
		if n.Cached {
			fill = "#d8f0d8"
		}
		fmt.Fprintf(&b, "  %s [label=%s, fillcolor=%q]\n", quote(n.ID), quote(n.Label+"\n"+n.Note), fill)
	}
	for _, n := range t.Nodes {
		for _, f := range n.From {
			fmt.Fprintf(&b, "  %s -> %s\n", quote(f), quote(n.ID))
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// WriteMermaid writes the tree as a Mermaid flowchart.
func (t Tree) WriteMermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids := map[string]string{}
	for i, n := range t.Nodes {
		ids[n.ID] = fmt.Sprintf("n%d", i)
		text := strings.NewReplacer(`"`, "#quot;", "\n", "<br>", "<", "#lt;", ">", "#gt;").Replace(n.Label)
		fmt.Fprintf(&b, "  %s[\"%s<br>%s\"]\n", ids[n.ID], text, strings.ReplaceAll(n.Note, `"`, "#quot;"))
		if n.Cached {
			fmt.Fprintf(&b, "  style %s fill:#d8f0d8\n", ids[n.ID])
		}
	}
	for _, n := range t.Nodes {
		for _, f := range n.From {
			if ids[f] != "" {
				fmt.Fprintf(&b, "  %s --> %s\n", ids[f], ids[n.ID])
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
