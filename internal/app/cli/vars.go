package cli

import (
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/flow"
)

// variables are the values for variables of a flow, from --set K=V, --vars FILE
// and --profile NAME.
type variables struct {
	values  map[string]string
	files   []string // from --vars
	profile string
}

func (v *variables) flags(c *cobra.Command) {
	c.Flags().Var(v, "set", "set variable `NAME=VALUE` of the flow; may be repeated")
	c.Flags().StringVar(&v.profile, "profile", "", "set the variables of profile `NAME` of the flow; --vars and --set override it")
	c.Flags().Var(varsFile{v}, "vars", "set the variables of a YAML `file` of names and values; --set overrides it")
}

// Set implements pflag.Value.
func (v *variables) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not NAME=VALUE", s)
	}
	v.add(name, value)
	return nil
}

func (v *variables) add(name, value string) {
	if v.values == nil {
		v.values = map[string]string{}
	}
	v.values[name] = value
}

// Type implements pflag.Value.
func (*variables) Type() string { return "NAME=VALUE" }

func (v *variables) String() string { return "" }

// varsFile adds the variables of a file that are not set yet.
type varsFile struct{ v *variables }

// Set implements pflag.Value.
func (f varsFile) Set(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	vars, err := flow.ParseVars(file, content)
	if err != nil {
		return err
	}
	f.v.files = append(f.v.files, file)
	f.v.fill(vars)
	return nil
}

// fill adds values of variables that are not set yet.
func (v *variables) fill(vars map[string]string) {
	for name, value := range vars {
		if _, set := v.values[name]; !set {
			v.add(name, value)
		}
	}
}

// of returns the values with those of the profile of a flow file.
func (v variables) of(file string, content []byte) (variables, error) {
	if v.profile == "" {
		return v, nil
	}
	profile, err := flow.Profile(file, content, v.profile)
	v.values = maps.Clone(v.values)
	v.fill(profile)
	return v, err
}

// Type implements pflag.Value.
func (varsFile) Type() string { return "file" }

func (varsFile) String() string { return "" }
