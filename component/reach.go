package component

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// A Reader is a parameter struct that lists the inputs of its component, if they are
// not simply everything at its paths.
type Reader interface {
	Inputs(env *Env) []pathguard.Input
}

// A Writer is a parameter struct of a sink that lists its outputs, if they are not
// simply everything at its paths. An output without an Owner belongs to the node.
type Writer interface {
	Outputs(env *Env) []pathguard.Output
}

// A SingleChecker is a parameter struct of a sink that can check itself for a single
// input dataset, in contrast to several named ones.
type SingleChecker interface {
	CheckSingle() error
}

// A StatIdentified is a parameter struct of a source or a sink whose files are identified by
// names, sizes and times. The output of such a source depends only on its parameters
// and its listed inputs. Such a sink writes only its listed outputs, and writing the
// same again would not change them.
type StatIdentified interface {
	Listed() bool
}

// A Far is a parameter struct of a source or a sink whose paths may be URLs (package
// objectstore). The state of local files does not identify remote ones, so a component with a
// URL is not a [StatIdentified].
type Far interface {
	Far()
}

// A Delegator is a parameter struct that embeds no methods for its files, but returns a
// value that has them. Similar components share the type of this value. The value
// implements Check, [Reader], [Writer], [SingleChecker], [StatIdentified], [Far] or [IncrementalSink]. A
// method of the struct itself takes precedence.
type Delegator interface {
	Delegate() any
}

// As returns parameters as a T, or else the value that they delegate to.
func As[T any](params any) (t T, ok bool) {
	if t, ok = params.(T); ok {
		return t, true
	}
	if d, delegates := params.(Delegator); delegates {
		t, ok = d.Delegate().(T)
	}
	return t, ok
}

// Check returns errors in parameters that their types and tags do not exclude. The
// reader of parameters must call it before using them.
func (c *Component) Check(params any) error {
	if _, ok := As[Far](params); !ok || c.Kind != Source && c.Kind != Sink {
		for _, p := range Paths(params) {
			if urlpath.Is(string(p)) && c.Kind == Sink {
				return fmt.Errorf("%s: sink %s writes local files only; write webdataset, parquet or jsonl there, or write locally and upload (aws s3 sync)", urlpath.Name(string(p)), c.Name)
			}
			if urlpath.Is(string(p)) {
				return fmt.Errorf("%s: %s %s accepts local files only; larder components lists those that accept URLs", urlpath.Name(string(p)), c.Kind, c.Name)
			}
		}
	}
	if checker, ok := As[interface{ Check() error }](params); ok {
		return checker.Check()
	}
	return nil
}

// A DirDependent is a parameter struct whose component depends on [Env.Dir] even if none of
// its paths is relative: it looks up files, programs or modules by strings that are not
// a [Path].
type DirDependent interface {
	DirDependent()
}

// A FileFilter is a parameter struct of a source that reads only some files of one
// directory. It selects them by slash-separated path in the directory. Other files do
// not affect its output.
type FileFilter interface {
	Picks(file string) bool
}

// Picks returns a function that reports which files at its paths a component may read.
func (c *Component) Picks(params any) func(file string) bool {
	if p, ok := params.(FileFilter); ok && c.Kind == Source && c.IsRegistered() {
		return p.Picks
	}
	return func(string) bool { return true }
}

// IsListed reports whether a component is a registered source or sink of files whose
// parameters are a [StatIdentified].
func (c *Component) IsListed(params any) bool {
	l, ok := As[StatIdentified](params)
	return ok && c.IsRegistered() && l.Listed() && !IsFar(params)
}

// IsFar reports whether a path among parameters is a URL.
func IsFar(params any) bool {
	return slices.ContainsFunc(Paths(params), func(p Path) bool { return urlpath.Is(string(p)) })
}

// Inputs lists what a component and the mappers among its parameters read from outside.
// No output of a flow may be, contain or lie in one of them.
func (c *Component) Inputs(env *Env, params any) (all []pathguard.Input) {
	if c.Kind == Sink {
		return nil
	}
	owner := fmt.Sprintf("node %s", env.Node)
	Walk(c, params, func(_ *Component, params any) {
		if r, ok := As[Reader](params); ok {
			for _, in := range r.Inputs(env) {
				in.Owner = owner
				all = append(all, in)
			}
			return
		}
		for _, p := range Paths(params) {
			all = append(all, pathguard.Input{Owner: owner, Path: env.Path(p)})
		}
	})
	return all
}

// Outputs lists what a sink writes.
func (c *Component) Outputs(env *Env, params any) (all []pathguard.Output) {
	if c.Kind != Sink {
		return nil
	}
	if w, ok := As[Writer](params); ok {
		all = w.Outputs(env)
	} else {
		for _, p := range Paths(params) {
			all = append(all, pathguard.Output{Path: env.Path(p)})
		}
	}
	for i := range all {
		all[i].Owner = cmp.Or(all[i].Owner, fmt.Sprintf("node %s", env.Node))
	}
	return all
}

// Walk visits a component with its parameters, and then the mappers among them with
// theirs.
func Walk(c *Component, params any, visit func(c *Component, params any)) {
	visit(c, params)
	for _, s := range Steps(params) {
		Walk(s.Component, s.Params, visit)
	}
}

// Paths lists the paths among parameters that are not empty. It does not search
// mappers.
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

// valuesIn appends the values of type T among parameters. It does not search mappers.
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
