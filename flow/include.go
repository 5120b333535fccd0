package flow

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Bounds of the includes of a flow file.
const (
	maxFiles    = 256
	maxFileSize = 16 << 20
)

// include reads the flow files listed in n. Their nodes become nodes of the
// flow, with the defaults of their own file, and with paths relative to its
// directory. Their variables take the values that this file gives them.
func (p *parser) include(n *yaml.Node) {
	n = p.expand(n)
	if n.Kind == yaml.ScalarNode {
		p.includeFile(n)
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.at(n, "include must be a file, or a list of files, not %s", kindName(n))
		return
	}
	for _, e := range n.Content {
		if e.Kind != yaml.ScalarNode {
			p.at(e, "include must list files, not %s", kindName(e))
			continue
		}
		p.includeFile(e)
	}
}

func (p *parser) includeFile(n *yaml.Node) {
	file := n.Value
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.dir, file)
	}
	if i := slices.Index(p.chain, file); i >= 0 {
		p.at(n, "%s includes itself: %s", n.Value, strings.Join(append(slices.Clone(p.chain[i:]), file), " -> "))
		return
	}
	if len(p.texts.names) >= maxFiles {
		p.at(n, "more than %d files are included; include fewer", maxFiles)
		return
	}
	content, err := p.texts.read(file)
	if err != nil {
		p.wrong(n, err)
		return
	}
	p.texts.add(file, content)
	outer := maps.Clone(p.outer)
	maps.Copy(outer, p.vars)
	q := newParser(newProblems(shown(p.file, n.Value), content), file, p.texts, outer)
	q.chain = append(slices.Clone(p.chain), file)
	q.read(content)
	p.absorb(q)
}

// shown returns the name of an included file in errors: its path as seen from
// the including file.
func shown(including, included string) string {
	if filepath.IsAbs(included) {
		return included
	}
	return filepath.Join(filepath.Dir(including), included)
}

// absorb adds the content of an included file.
func (p *parser) absorb(q *parser) {
	p.included = append(p.included, q.problems)
	p.included = append(p.included, q.included...)
	p.raw = append(p.raw, q.raw...)
	for name, v := range q.vars {
		if _, ok := p.vars[name]; !ok {
			p.vars[name] = v
		}
	}
}
