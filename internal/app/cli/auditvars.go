package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/urlpath"
)

type auditVariable struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // several for a sweep
	Given  bool     `json:"given"`  // on the command line, not in the flow
	Used   []string `json:"used"`   // as in nodes.many.with.times (flow.yaml:15:18)
	secret bool
}

func (v auditVariable) plainValues() (texts []string) {
	for _, value := range v.Values {
		texts = append(texts, plain(value))
	}
	return texts
}

// findVariables lists the variables of valid flow files, with their values. If
// several files define one, the first file counts.
func findVariables(files []string, set variables) ([]auditVariable, error) {
	s := &variableSearch{all: []auditVariable{}}
	var roots []*yaml.Node
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if set, err = set.of(file, content); err != nil {
				return nil, err
			}
		}
		var root yaml.Node
		if err := yaml.Load(content, &root); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		roots = append(roots, &root)
		s.declared(&root, set)
	}
	for i, root := range roots {
		s.uses(root, filepath.Base(files[i]), nil)
	}
	for i := range s.all {
		s.all[i].hide()
	}
	return s.all, nil
}

// hide masks credentials. These are values of variables with a suggestive name,
// or used as user or query of URLs, and those parts of URLs.
func (v *auditVariable) hide() {
	for i, value := range v.Values {
		switch {
		case value == "":
		case v.secret || urlpath.Admits(v.Name):
			v.Values[i] = "*****" // without revealing the length
		default:
			v.Values[i] = urlpath.Hide(value)
		}
	}
}

type variableSearch struct{ all []auditVariable }

// declared adds the variables of a file.
func (s *variableSearch) declared(root *yaml.Node, set variables) {
	for name, section := range entries(root) {
		if name != "vars" && name != "sweep" {
			continue
		}
		for name, value := range entries(section) {
			if slices.ContainsFunc(s.all, func(v auditVariable) bool { return v.Name == name }) {
				continue
			}
			v := auditVariable{Name: name, Values: []string{value.Value}, Used: []string{}}
			if value.Kind == yaml.SequenceNode {
				v.Values = nil
				for _, e := range value.Content {
					v.Values = append(v.Values, e.Value)
				}
			}
			if given, ok := set.values[name]; ok {
				v.Values, v.Given = []string{scalarText(given)}, true
			}
			s.all = append(s.all, v)
		}
	}
}

// scalarText returns the string for a value given in YAML, as by --vars.
func scalarText(given string) string {
	var n yaml.Node
	if err := yaml.Load([]byte(given), &n); err != nil || len(n.Content) != 1 || n.Content[0].Kind != yaml.ScalarNode {
		return given
	}
	return n.Content[0].Value
}

// entries yields the names and values of a mapping.
func entries(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
			n = n.Content[0]
		}
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

// uses records the uses of variables in n, which is at a path in a file.
func (s *variableSearch) uses(n *yaml.Node, file string, path []string) {
	if n.Kind == yaml.MappingNode {
		for name, value := range entries(n) {
			s.uses(value, file, append(slices.Clone(path), name))
		}
		return
	}
	for i, c := range n.Content {
		if n.Kind == yaml.SequenceNode {
			s.uses(c, file, append(slices.Clone(path), fmt.Sprint(i)))
		} else {
			s.uses(c, file, path)
		}
	}
	for _, name := range flow.VarsIn(n.Value) {
		i := slices.IndexFunc(s.all, func(v auditVariable) bool { return v.Name == name })
		use := fmt.Sprintf("%s (%s:%d:%d)", strings.Join(path, "."), file, n.Line, n.Column)
		if i >= 0 && !slices.Contains(flow.VarsIn(urlpath.Hide(n.Value)), name) {
			s.all[i].secret = true
		}
		if i >= 0 && name != "" && !slices.Contains(s.all[i].Used, use) {
			s.all[i].Used = append(s.all[i].Used, use)
		}
	}
}
