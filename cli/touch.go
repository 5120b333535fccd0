package cli

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/mapper"
)

// touches is what of the file system a node names.
type touches struct {
	reads  []string // files and folders, absolute
	writes []string
	may    []string // files that would be read if they came to be
}

// touchesOf finds what a node names by its parameters, and by what its source
// says that it reads. What a sink names it writes, what another node names it
// reads.
func touchesOf(f *flow.Flow, n *flow.Node) (t touches) {
	env := envOf(f, n)
	eachComponent(n.Component, n.Params, func(c *component.Component, params any) {
		for _, p := range pathsIn(reflect.ValueOf(params)) {
			if n.Component.Kind == component.Sink {
				t.writes = append(t.writes, env.Path(p))
			} else {
				t.reads = append(t.reads, env.Path(p))
			}
		}
		if e, ok := params.(mapper.Exec); ok {
			files, may := e.WordFiles(env)
			t.reads, t.may = slices.AppendSeq(t.reads, maps.Values(files)), append(t.may, may...)
		}
	})
	t.reads = append(t.reads, n.Component.Inputs(env, n.Params)...)
	t.reads = slices.Compact(slices.Sorted(slices.Values(t.reads)))
	return t
}

// envOf is what a component may use that only says what it would do.
func envOf(f *flow.Flow, n *flow.Node) *component.Env {
	return &component.Env{Node: n.Name, Dir: cmp.Or(n.Dir, f.Dir)}
}

// eachComponent visits a component with its parameters, and the mappers among
// these with theirs.
func eachComponent(c *component.Component, params any, visit func(c *component.Component, params any)) {
	visit(c, params)
	for _, s := range valuesIn[component.Step](reflect.ValueOf(params), nil) {
		if s.Component != nil {
			eachComponent(s.Component, s.Params, visit)
		}
	}
}

// pathsIn lists the paths among parameters.
func pathsIn(v reflect.Value) (paths []component.Path) {
	for _, p := range valuesIn[component.Path](v, nil) {
		if p != "" {
			paths = append(paths, p)
		}
	}
	return paths
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
			if !component.IsStep(v.Type()) && v.Type().Field(i).IsExported() {
				all = valuesIn(v.Field(i), all)
			}
		}
	}
	return all
}
