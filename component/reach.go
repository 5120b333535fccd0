package component

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// A Reader is a parameter struct that says what its component reads, where that
// is anything else than all that lies at its paths.
type Reader interface {
	Inputs(env *Env) []pathguard.Input
}

// A Writer is a parameter struct of a sink that says what is written, where that
// is anything else than the whole of what its paths name. An output without a Who is the
// node's.
type Writer interface {
	Outputs(env *Env) []pathguard.Output
}

// A SingleChecker is a parameter struct of a sink that can tell what is wrong with itself
// where it is given one dataset, and not several under names.
type SingleChecker interface {
	CheckSingle() error
}

// A Lister is a parameter struct of a source or a sink of files, for which names,
// sizes and times stand. What a source that says so puts out depends on its
// parameters and on what it says it reads, and on nothing else. What a sink that
// says so writes is where it says, and stays as it is if it would only be written
// again.
type Lister interface {
	Listed() bool
}

// A Far is a parameter struct of a source or a sink whose paths may be URLs, of files that lie
// elsewhere: see package place. What tells of files here tells nothing of them, so with a URL a
// component is no [Lister].
type Far interface {
	Far()
}

// Check returns what is wrong with parameters, beyond what their types and tags say. Whoever
// reads parameters calls it before anything else is done with them.
func (c *Component) Check(params any) error {
	if _, ok := params.(Far); !ok || c.Kind != Source && c.Kind != Sink {
		for _, p := range Paths(params) {
			if urlpath.Is(string(p)) && c.Kind == Sink {
				return fmt.Errorf("%s: sink %s writes files of this machine only; write an archive or a table there (webdataset, parquet, jsonl), or have it write a folder here, and copy that with a tool of the service (aws s3 sync, gcloud storage rsync, azcopy sync)", urlpath.Name(string(p)), c.Name)
			}
			if urlpath.Is(string(p)) {
				return fmt.Errorf("%s: %s %s takes files of this machine only; what takes URLs is said by larder components", urlpath.Name(string(p)), c.Kind, c.Name)
			}
		}
	}
	if checker, ok := params.(interface{ Check() error }); ok {
		return checker.Check()
	}
	return nil
}

// A Placed is a parameter struct whose component means something else in another
// [Env.Dir], even where none of its paths is relative: it looks up files, programs or
// modules by words that are no [Path].
type Placed interface {
	Placed()
}

// A Picker is a parameter struct of a source of one folder, of which it reads the files
// that it picks, by their paths in the folder with slashes. What a file that it does not
// pick holds, or whether there is one, changes nothing.
type Picker interface {
	Picks(file string) bool
}

// Picks returns what says which of the files at its paths a component may read.
func (c *Component) Picks(params any) func(file string) bool {
	if p, ok := params.(Picker); ok && c.Kind == Source && c.IsRegistered() {
		return p.Picks
	}
	return func(string) bool { return true }
}

// IsListed reports whether a component is a registered source or sink of files
// whose parameters say so: see [Lister].
func (c *Component) IsListed(params any) bool {
	l, ok := params.(Lister)
	return ok && c.IsRegistered() && l.Listed() && !IsFar(params)
}

// IsFar reports whether a path among parameters is a URL.
func IsFar(params any) bool {
	return slices.ContainsFunc(Paths(params), func(p Path) bool { return urlpath.Is(string(p)) })
}

// Inputs lists what a component reads from outside, and what the mappers among
// its parameters do: nothing written by a flow may be, hold or lie in it.
func (c *Component) Inputs(env *Env, params any) (all []pathguard.Input) {
	if c.Kind == Sink {
		return nil
	}
	who := fmt.Sprintf("node %s", env.Node)
	Walk(c, params, func(_ *Component, params any) {
		if r, ok := params.(Reader); ok {
			for _, in := range r.Inputs(env) {
				in.Who = who
				all = append(all, in)
			}
			return
		}
		for _, p := range Paths(params) {
			all = append(all, pathguard.Input{Who: who, Path: env.Path(p)})
		}
	})
	return all
}

// Outputs lists what a sink writes.
func (c *Component) Outputs(env *Env, params any) (all []pathguard.Output) {
	if c.Kind != Sink {
		return nil
	}
	if w, ok := params.(Writer); ok {
		all = w.Outputs(env)
	} else {
		for _, p := range Paths(params) {
			all = append(all, pathguard.Output{Path: env.Path(p)})
		}
	}
	for i := range all {
		all[i].Who = cmp.Or(all[i].Who, fmt.Sprintf("node %s", env.Node))
	}
	return all
}

// Walk visits a component with its parameters, and the mappers among these with
// theirs.
func Walk(c *Component, params any, visit func(c *Component, params any)) {
	visit(c, params)
	for _, s := range Steps(params) {
		Walk(s.Component, s.Params, visit)
	}
}

// Paths lists the paths among parameters that are not empty. It does not look
// into mappers.
func Paths(params any) (paths []Path) {
	for _, p := range valuesIn[Path](reflect.ValueOf(params), nil) {
		if p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// Steps lists the mappers among parameters, but not those among theirs.
func Steps(params any) (steps []Step) {
	for _, s := range valuesIn[Step](reflect.ValueOf(params), nil) {
		if s.Component != nil {
			steps = append(steps, s)
		}
	}
	return steps
}

// valuesIn appends what of type T is among parameters. It does not look into
// mappers.
func valuesIn[T any](v reflect.Value, all []T) []T {
	if !v.IsValid() {
		return all
	}
	if v.Type() == reflect.TypeFor[T]() {
		return append(all, v.Interface().(T))
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return valuesIn(v.Elem(), all)
	case reflect.Slice:
		for i := range v.Len() {
			all = valuesIn(v.Index(i), all)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			all = valuesIn(v.MapIndex(k), all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !IsStep(v.Type()) && v.Type().Field(i).IsExported() {
				all = valuesIn(v.Field(i), all)
			}
		}
	}
	return all
}
