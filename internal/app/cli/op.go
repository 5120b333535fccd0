package cli

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

const placesHelp = `
PATH is a dataset in the format FORMAT, or underfolder where none is named.
k=v are more parameters of the format, such as overwrite=replace; larder
components FORMAT lists them. Write a comma in a path twice. If a path contains a
colon, put FORMAT: before it. Relative paths start at the current directory.

For a parameter that is a list, give a flag for each element; for a map, give
NAME=VALUE in a flag for each entry; write nested values in YAML. Arguments after --
are elements of the first parameter, if it is a list.`

func (a *app) opCommand() *cobra.Command {
	return a.componentCommands(component.Op, "Apply one operator to datasets", `
Reads datasets, applies one operator and writes the result. Operators that join
several datasets take -i several times.

If an operator has several outputs, one -o takes all of them: each is written to a
subdirectory of its name. Or each output has its own -o: -o.NAME PATH for the
output NAME, or several -o in the order of the outputs. An output without -o is an
error, and nothing is written, unless --allow-unused-outputs drops such outputs.
Outputs of group-by are named by the values that samples are grouped by: -o.red
PATH --allow-unused-outputs writes the samples of red alone.
`+placesHelp)
}

func (a *app) mapCommand() *cobra.Command {
	return a.componentCommands(component.Map, "Apply one mapper to each sample of a dataset", `
Reads a dataset, applies one mapper to each sample and writes the result.
`+placesHelp)
}

// componentCommands returns a command with a subcommand for each component of a
// kind.
func (a *app) componentCommands(kind component.Kind, short, long string) *cobra.Command {
	c := &cobra.Command{
		Use:                string(kind) + " NAME -i [FORMAT:]PATH[,k=v]... -o [FORMAT:]PATH[,k=v]... [flags]",
		Short:              short,
		Long:               short + ".\n" + long,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}, // an error in the name matters more
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			if _, err := component.Find(kind, args[0]); err != nil {
				return usageError{err}
			}
			return usageError{fmt.Errorf("give the name first: larder %s %s", kind, args[0])}
		},
	}
	for _, one := range component.All(kind) {
		c.AddCommand(a.componentCommand(one))
	}
	return c
}

// componentRun has the flags of one component's command.
type componentRun struct {
	component *component.Component
	in, out   places
	args      []flow.Arg
	keep      bool
	run       runFlags
}

func (a *app) componentCommand(one *component.Component) *cobra.Command {
	r := &componentRun{
		component: one,
		in:        places{kind: component.Source, flag: "-i"},
		out:       places{kind: component.Sink, flag: "-o", to: a.stdout},
	}
	summary, _, _ := strings.Cut(one.Doc, ". ")
	c := &cobra.Command{
		Use:         one.Name + " -i [FORMAT:]PATH[,k=v]... -o [FORMAT:]PATH[,k=v]... [flags]",
		Short:       strings.TrimSuffix(summary, "."),
		Long:        fmt.Sprintf("%s\n\nlarder %s --help describes the syntax of datasets and parameters.", one.Doc, one.Kind),
		Annotations: map[string]string{takesNames: "-i and -o"},
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.rest(c, args); err != nil {
				return usageError{err}
			}
			fl, err := r.flow()
			if err != nil {
				return usageError{err}
			}
			r.run.stdin = &component.Input{Reader: os.Stdin}
			return a.runFlow(c.Context(), fl, r.run)
		},
	}
	r.flags(c)
	return c
}

// flags adds the flags to a command: those of a run, and one for each
// parameter.
func (r *componentRun) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.VarP(&r.in, "input", "i", "a dataset to read; may be repeated, or given a name: -i.NAME")
	f.VarP(&r.out, "output", "o", "where to write; may be repeated, or given a name: -o.NAME")
	names := []string{"input", "output", "workers", "keep", "report", "events", "progress", "dry-run", "json", "on-error", "skips", "logs", "cache", "cache-size", "store", "help", "allow-unused-outputs"}
	for _, p := range r.component.Params {
		name := p.Name
		if slices.Contains(names, name) {
			name = "with-" + name
		}
		names = append(names, name)
		r.flag(c, name, p)
	}
	if r.component.Outs {
		f.BoolVar(&r.out.allowUnused, "allow-unused-outputs", false, "drop outputs without -o")
	}
	f.IntVar(&r.run.workers, "workers", 0, "concurrent samples (default: the number of processors)")
	f.BoolVar(&r.keep, "keep", false, "cache each computed sample for later runs")
	f.StringVar(&r.run.report, "report", "", "write the report as JSON to `file` (- for stdout)")
	f.StringVar(&r.run.events, "events", "", "append events as JSON lines to `file`")
	f.StringVar(&r.run.progress, "progress", "auto", "auto, full, plain or none: bars on a terminal and lines elsewhere; the whole terminal; lines; nothing")
	r.run.onErrorFlags(c)
	f.BoolVar(&r.run.dryRun, "dry-run", false, "show what would be computed and why, and compute nothing")
	f.BoolVar(&r.run.json, "json", false, "with --dry-run: print JSON on stdout")
}

func (r *componentRun) flag(c *cobra.Command, name string, p component.Param) {
	f := c.Flags().VarPF(&paramFlag{name, p, r}, name, "", p.Doc+flagNotes(p))
	f.DefValue = p.Default
	if p.TypeName() == "bool" {
		f.NoOptDefVal = "true"
	}
	if p.Enum != nil {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(p.Enum, cobra.ShellCompDirectiveNoFileComp)) // fails for missing or repeated flags only
	}
}

func flagNotes(p component.Param) (notes string) {
	if p.Required {
		notes += ", required"
	}
	if k := p.Type.Kind(); k == reflect.Slice || k == reflect.Map {
		notes += ", may be repeated"
	}
	if p.Enum != nil {
		notes += ", one of " + strings.Join(p.Enum, " ")
	}
	if notes == "" {
		return ""
	}
	return " (" + notes[2:] + ")"
}

// paramFlag is the flag of a parameter, which takes strings.
type paramFlag struct {
	name  string
	param component.Param
	run   *componentRun
}

// Set implements pflag.Value.
func (f *paramFlag) Set(text string) error {
	f.run.args = append(f.run.args, flow.Arg{Name: f.param.Name, Text: text, Flag: "--" + f.name})
	return nil
}

// Type implements pflag.Value.
func (f *paramFlag) Type() string {
	name := f.param.TypeName()
	if element, ok := strings.CutPrefix(name, "list of "); ok {
		return element
	}
	if element, ok := strings.CutPrefix(name, "map of "); ok {
		return "NAME=" + element
	}
	return name
}

func (*paramFlag) String() string { return "" }

// rest reads the arguments other than flags: those after -- are elements of the
// first parameter, if that is a list.
func (r *componentRun) rest(c *cobra.Command, args []string) error {
	dash := c.ArgsLenAtDash()
	if dash < 0 {
		dash = len(args)
	}
	if dash > 0 {
		return fmt.Errorf("%s %s: unexpected argument %q; give datasets to read with -i", r.component.Kind, r.component.Name, args[0])
	}
	if len(args) == 0 {
		return nil
	}
	if p := r.component.Params; len(p) == 0 || p[0].Type.Kind() != reflect.Slice {
		return fmt.Errorf("%s %s: unexpected arguments after --", r.component.Kind, r.component.Name)
	}
	for _, text := range args {
		r.args = append(r.args, flow.Arg{Name: r.component.Params[0].Name, Text: text, Flag: "-- " + text})
	}
	return nil
}

// flow builds the graph: the input, the component, the output.
func (r *componentRun) flow() (*flow.Flow, error) {
	c := r.component
	params, err := flow.Params(c, r.args)
	if err = errors.Join(err, r.in.read(), r.out.read()); err == nil {
		err = errors.Join(r.in.checkInputs(c), r.out.checkOutputs(c))
	}
	if err != nil {
		return nil, err
	}
	middle := &flow.Node{Name: c.Name, Component: c, Params: params, Options: flow.Options{Keep: r.keep}}
	var nodes []*flow.Node
	streams := false
	for i, in := range r.in.list {
		n := &flow.Node{Name: r.in.nodeName(i), Component: in.component, Params: in.params}
		nodes = append(nodes, n)
		if in.component.IsStream(in.params) {
			if streams = c.TakesStreams(); !streams && !c.Materialises() {
				n = materialised(n)
				nodes = append(nodes, n)
			}
		}
		middle.From = append(middle.From, flow.Input{Node: n.Name})
	}
	nodes = append(nodes, middle)
	if streams {
		middle = materialised(middle)
		nodes = append(nodes, middle)
	}
	out := &flow.Node{Name: "out", From: []flow.Input{{Node: middle.Name}}}
	out.Component, out.Params = r.out.sink()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return flow.New(c.Name, dir, append(nodes, out)...)
}

// materialised returns a node that makes a dataset of the stream of n.
func materialised(n *flow.Node) *flow.Node {
	c, err := component.Find(component.Op, "materialise")
	if err != nil {
		panic(err) // it is part of the program
	}
	return &flow.Node{Name: n.Name + "-all", Component: c, Params: reflect.Zero(c.Type).Interface(), From: []flow.Input{{Node: n.Name}}}
}
