package flow

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/component"
)

// Profile returns the values that a profile of a flow file gives to variables,
// as [Parse] accepts them. It ignores profiles of included files.
func Profile(file string, content []byte, name string) (map[string]string, error) {
	p := newProblems(file, content)
	var names []string
	values := map[string]string{}
	if root := document(content, p); root != nil {
		for _, f := range p.fields(root, "a flow") {
			if f.key.Value != "profiles" {
				continue
			}
			for _, profile := range p.fields(f.value, "profiles") {
				names = append(names, profile.key.Value)
				if profile.key.Value == name {
					values = p.scalars(profile.value, "profile "+name)
				}
			}
		}
	}
	if errs := p.sorted(); errs != nil {
		return nil, errs
	}
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("%s has no profile %q%s", file, name, component.Suggest(name, names))
	}
	return values, nil
}

// checkProfiles refuses profiles with values for undefined variables.
func (p *parser) checkProfiles(n field) {
	if len(p.chain) > 1 {
		return // only profiles of the main file count
	}
	for _, profile := range p.fields(n.value, "profiles") {
		what := "profile " + profile.key.Value
		p.scalars(profile.value, what)
		for _, v := range p.fields(profile.value, what) {
			if valid := p.settable(); !slices.Contains(valid, v.key.Value) {
				p.at(v.key, "%s sets %q, which is not a variable%s", what, v.key.Value, component.Suggest(v.key.Value, valid))
			}
		}
	}
}
