package flow

import (
	"maps"
	"regexp"
	"slices"

	"github.com/larder-data/larder/component"
	"go.yaml.in/yaml/v4"
)

// variable matches ${name}, and $${ which stands for ${ itself.
var variable = regexp.MustCompile(`\$\$\{|\$\{([^}]*)\}`)

// expand returns n with the variables in its scalars replaced. A scalar that
// is one variable and nothing else takes the variable's own value and type;
// within a text, a variable's text is put in.
func (p *parser) expand(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode {
		return p.expandScalar(n)
	}
	clone := *n
	clone.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		clone.Content[i] = p.expand(c)
	}
	return &clone
}

func (p *parser) expandScalar(n *yaml.Node) *yaml.Node {
	matches := variable.FindAllStringSubmatchIndex(n.Value, -1)
	if matches == nil {
		return n
	}
	clone := *n
	m := matches[0]
	if m[0] == 0 && m[1] == len(n.Value) && m[2] >= 0 {
		if v := p.variable(n, n.Value[m[2]:m[3]]); v != nil {
			clone = *v
			clone.Line, clone.Column = n.Line, n.Column
		}
		return &clone
	}
	clone.Value = variable.ReplaceAllStringFunc(n.Value, func(s string) string {
		if s == "$${" {
			return "${"
		}
		v := p.variable(n, s[2:len(s)-1])
		if v == nil {
			return s
		}
		if v.Kind != yaml.ScalarNode {
			p.at(n, "variable %s is %s and cannot stand within a text", s, kindName(v))
			return s
		}
		return v.Value
	})
	clone.Tag = "!!str"
	return &clone
}

// variable returns the value of a variable, or nil, having noted that there is
// none.
func (p *parser) variable(n *yaml.Node, name string) *yaml.Node {
	v, ok := p.vars[name]
	if !ok {
		p.at(n, "there is no variable %q%s", name, component.Suggest(name, slices.Collect(maps.Keys(p.vars))))
		return nil
	}
	return v
}
