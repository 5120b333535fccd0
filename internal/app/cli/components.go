package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of flow files",
		Args:  words(0, 0),
		RunE: func(*cobra.Command, []string) error {
			return writeJSON(a.stdout, flow.Schema())
		},
	}
}

func (a *app) componentsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "components [NAME]",
		Short: "List the components of flows, or describe one",
		Args:  words(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			all := allComponents()
			if len(args) == 1 {
				var err error
				if all, err = componentsNamed(args[0], all); err != nil {
					return usageError{err}
				}
			}
			if asJSON {
				return writeComponentsJSON(a.stdout, all)
			}
			writeComponents(a.stdout, all, len(args) == 1)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func allComponents() (all []*component.Component) {
	for _, kind := range component.Kinds() {
		all = append(all, component.All(kind)...)
	}
	return all
}

// componentsNamed returns the components with a name: a source and a sink may
// share one.
func componentsNamed(name string, all []*component.Component) (found []*component.Component, err error) {
	var names []string
	for _, c := range all {
		if c.Name == name {
			found = append(found, c)
		}
		names = append(names, c.Name)
	}
	if found == nil {
		return nil, fmt.Errorf("there is no component %q%s", name, component.Suggest(name, names))
	}
	return found, nil
}

func writeComponents(w io.Writer, all []*component.Component, whole bool) {
	var kind component.Kind
	for _, c := range all {
		if whole {
			fmt.Fprintf(w, "%s: %s\n%s\n", c.Kind, c.Name, c.Doc)
			for _, p := range c.Params {
				fmt.Fprintf(w, "  %s (%s%s): %s\n", p.Name, p.TypeName(), paramNotes(p), p.Doc)
			}
			continue
		}
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(w, "%s\n", kind)
		}
		fmt.Fprintf(w, "  %-14s %s\n", c.Name, c.Doc)
	}
}

func paramNotes(p component.Param) string {
	var notes string
	if p.Required {
		notes += ", required"
	}
	if p.Default != "" {
		notes += ", default " + p.Default
	}
	if p.Enum != nil {
		notes += ", one of " + strings.Join(p.Enum, " ")
	}
	return notes
}

func writeComponentsJSON(w io.Writer, all []*component.Component) error {
	type param struct {
		Name     string   `json:"name"`
		Type     string   `json:"type"`
		Required bool     `json:"required"`
		Default  string   `json:"default,omitempty"`
		Enum     []string `json:"enum,omitempty"`
		Doc      string   `json:"doc"`
	}
	type entry struct {
		Kind   component.Kind `json:"kind"`
		Name   string         `json:"name"`
		Doc    string         `json:"doc"`
		Params []param        `json:"params"`
	}
	list := make([]entry, len(all))
	for i, c := range all {
		list[i] = entry{c.Kind, c.Name, c.Doc, make([]param, len(c.Params))}
		for j, p := range c.Params {
			list[i].Params[j] = param{p.Name, p.TypeName(), p.Required, p.Default, p.Enum, p.Doc}
		}
	}
	return writeJSON(w, list)
}
