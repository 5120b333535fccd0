package flow

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
	"go.yaml.in/yaml/v4"
)

// variable matches ${name}, and $${, the escape for ${.
var variable = regexp.MustCompile(`\$\$\{|\$\{([^}]*)\}`)

// VarsIn lists the variables in a string of a flow file, with repetitions.
func VarsIn(text string) (names []string) {
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		if m[2] >= 0 {
			names = append(names, text[m[2]:m[3]])
		}
	}
	return names
}

// ParseVars reads a file of variables: a mapping of names to scalars, as
// [Parse] takes them.
func ParseVars(file string, content []byte) (map[string]string, error) {
	p := newProblems(file, content)
	vars := map[string]string{}
	if root := document(content, p); root != nil && len(p.list) == 0 {
		vars = p.scalars(root, "the variables")
	}
	if errs := p.sorted(); errs != nil {
		return nil, errs
	}
	return vars, nil
}

func (p *problems) scalars(n *yaml.Node, what string) map[string]string {
	vars := map[string]string{}
	for _, f := range p.fields(n, what) {
		if f.value.Kind != yaml.ScalarNode {
			p.at(f.value, "%s must be a string, a number or a boolean, not %s", f.key.Value, kindName(f.value))
			continue
		}
		vars[f.key.Value] = f.value.Value
		if f.value.ShortTag() == "!!str" { // it stays a string, whatever it looks like
			vars[f.key.Value] = strconv.Quote(f.value.Value)
		}
	}
	return vars
}

// expand returns n with the variables in its scalars replaced, and each switch
// replaced by the matching case. A scalar that is one variable alone takes the
// variable's value and type. Within a string, the variable's string is
// inserted.
func (p *parser) expand(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode {
		return p.expandScalar(n)
	}
	if isSwitch(n) {
		return p.expandSwitch(n)
	}
	clone := *n
	clone.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		clone.Content[i] = p.expand(c)
	}
	return &clone
}

// isSwitch reports whether n is {switch: VALUE, cases: {VALUE: ...}}, with a
// default or without one.
func isSwitch(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) != 4 && len(n.Content) != 6 {
		return false
	}
	found := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		found[n.Content[i].Value] = true
	}
	return found["switch"] && found["cases"] && (found["default"] || len(n.Content) == 4)
}

func (p *parser) expandSwitch(n *yaml.Node) *yaml.Node {
	parts := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		parts[n.Content[i].Value] = n.Content[i+1]
	}
	value := p.expand(parts["switch"])
	if value.Kind != yaml.ScalarNode {
		p.at(parts["switch"], "switch must be on a string, a number or a boolean, not %s", kindName(value))
		return n
	}
	var names []string
	for _, f := range p.fields(parts["cases"], "cases") {
		if f.key.Value == value.Value {
			return p.expand(f.value)
		}
		names = append(names, f.key.Value)
	}
	if d, ok := parts["default"]; ok {
		return p.expand(d)
	}
	p.at(parts["switch"], "switch: no case %q and no default%s", value.Value, component.Suggest(value.Value, names))
	return n
}

func (p *parser) expandScalar(n *yaml.Node) *yaml.Node {
	matches := variable.FindAllStringSubmatchIndex(n.Value, -1)
	if isUnclosed(n.Value, matches) {
		p.at(n, "unclosed ${; add }, or write $${ for a literal ${")
	}
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
			p.at(n, "variable %s is %s; only scalars can be part of a string", s, kindName(v))
			return s
		}
		return v.Value
	})
	clone.Tag = "!!str"
	return &clone
}

// isUnclosed reports whether there is a ${ outside of the matches.
func isUnclosed(text string, matches [][]int) bool {
	from := 0
	for _, m := range matches {
		if strings.Contains(text[from:m[0]], "${") {
			return true
		}
		from = m[1]
	}
	return strings.Contains(text[from:], "${")
}

// variable returns the value of a variable. If it is undefined, it records an
// error and returns nil.
func (p *parser) variable(n *yaml.Node, name string) *yaml.Node {
	v, ok := p.vars[name]
	if !ok && slices.Contains(p.swept, name) {
		p.at(n, "variable %q is in sweep, so other variables cannot use it; use it in nodes", name)
		return nil
	}
	if !ok {
		p.at(n, "unknown variable %q%s", name, component.Suggest(name, slices.Collect(maps.Keys(p.vars))))
		return nil
	}
	return v
}
