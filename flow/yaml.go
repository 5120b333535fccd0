package flow

import (
	"slices"
	"strconv"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/yamltext"
	"go.yaml.in/yaml/v4"
)

// document parses YAML into a tree without aliases. If there is no document, it
// records why and returns nil.
func document(content []byte, p *problems) *yaml.Node {
	var root yaml.Node
	if err := yaml.Load(content, &root); err != nil {
		e := yamltext.Explain(content, err)
		p.add(e.Line, e.Column, "not YAML: "+e.What)
		return nil
	}
	n := &root
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	u := unaliaser{p: p, budget: maxNodes, open: map[*yaml.Node]bool{}, ends: map[*yaml.Node]bool{}}
	return u.unalias(n)
}

// maxNodes bounds a document with its aliases replaced, so that a small file of
// nested aliases cannot take all memory.
const maxNodes = 1 << 20

// tags are the tags allowed in flow files.
var tags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!merge", "!!timestamp", "!!binary"}

// unaliaser replaces aliases, and merges what << names into its mapping.
type unaliaser struct {
	p      *problems
	budget int
	open   map[*yaml.Node]bool // nodes in progress
	ends   map[*yaml.Node]bool // replacements of aliases within their own anchor, already reported
}

func (u *unaliaser) unalias(n *yaml.Node) *yaml.Node {
	u.budget--
	if u.budget < 0 {
		if u.budget == -1 {
			u.p.at(n, "the document is too large after expanding aliases; use fewer")
		}
		return n
	}
	if n.Kind == yaml.AliasNode {
		if u.open[n.Alias] {
			u.p.at(n, "alias *%s is inside &%s, so the expansion has no end", n.Value, n.Value)
			end := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
			u.ends[end] = true
			return end
		}
		return u.unalias(n.Alias)
	}
	if tag := n.ShortTag(); !slices.Contains(tags, tag) {
		u.p.at(n, "unsupported tag %s; remove it", display.Name(tag))
	}
	if len(n.Content) == 0 {
		return n
	}
	u.open[n] = true
	defer delete(u.open, n)
	clone := *n
	clone.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		clone.Content[i] = u.unalias(c)
	}
	if clone.Kind == yaml.MappingNode {
		u.merge(&clone)
	}
	return &clone
}

// merge adds the entries of mappings that << names to a mapping, except for
// keys that it has. The first of several mappings takes precedence.
func (u *unaliaser) merge(n *yaml.Node) {
	var own, merged []*yaml.Node
	has := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.ShortTag() != "!!merge" {
			own = append(own, k, v)
			has[k.Value] = true
			continue
		}
		from := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			from = v.Content
		}
		for _, m := range from {
			if u.ends[m] {
				continue
			}
			if m.Kind != yaml.MappingNode {
				u.p.at(v, "<< must name a mapping, or a list of mappings, not %s", kindName(m))
				continue
			}
			merged = append(merged, m.Content...)
		}
	}
	for i := 0; i+1 < len(merged); i += 2 {
		if k := merged[i]; !has[k.Value] {
			has[k.Value] = true
			own = append(own, k, merged[i+1])
		}
	}
	n.Content = own
}

type field struct{ key, value *yaml.Node }

// fields returns the entries of a mapping in order. It records an error if n is
// not a mapping, and for keys that are duplicates or not strings.
func (p *problems) fields(n *yaml.Node, what string) []field {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		p.at(n, "%s must be a mapping, not %s", what, kindName(n))
		return nil
	}
	var out []field
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case k.Kind != yaml.ScalarNode:
			p.at(k, "a key of %s must be a string", what)
		case seen[k.Value]:
			p.at(k, "%q is given twice in %s; remove one", k.Value, what)
		default:
			seen[k.Value] = true
			out = append(out, field{k, n.Content[i+1]})
		}
	}
	return out
}

// unknown records a field whose name is not among the valid ones.
func (p *problems) unknown(key *yaml.Node, what string, valid []string) {
	p.at(key, "%s has no field %q%s", what, key.Value, component.Suggest(key.Value, valid))
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		if len(n.Content) == 0 {
			return "an empty list"
		}
		return "a list"
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return "nothing"
		}
		if name, ok := scalarNames[n.ShortTag()]; ok {
			return name + display.Short(n.Value)
		}
		return "the string " + strconv.Quote(display.Short(n.Value))
	default:
		return "that"
	}
}

// scalarNames are names for scalars other than strings, by tag.
var scalarNames = map[string]string{"!!bool": "the boolean ", "!!int": "the number ", "!!float": "the number "}
