package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/flow"
)

// variables are the values that --set K=V and --vars FILE give to the variables
// of a flow.
type variables struct {
	values map[string]string
	files  []string // given by --vars
}

// flags adds the flags to a command.
func (v *variables) flags(c *cobra.Command) {
	c.Flags().Var(v, "set", "set variable `K=V` of the flow; may be repeated")
	c.Flags().Var(varsFile{v}, "vars", "set the variables in a YAML `file` of names and values; --set goes before it")
}

// Set implements pflag.Value.
func (v *variables) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not of the form K=V", s)
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
func (*variables) Type() string { return "K=V" }

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
	for name, value := range vars {
		if _, set := f.v.values[name]; !set {
			f.v.add(name, value)
		}
	}
	return nil
}

// Type implements pflag.Value.
func (varsFile) Type() string { return "file" }

func (varsFile) String() string { return "" }
