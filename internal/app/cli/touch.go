package cli

import (
	"cmp"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
	"github.com/larder-data/larder/mapper"
)

// touches lists the parts of the file system that a node names.
type touches struct {
	reads  []string // files and directories, absolute
	writes []string
	may    []string // missing files that would be read if they existed
	far    []string // redacted URLs that are read; their changes are not reported
	sends  []string // redacted URLs that are written
}

// touchesOf finds what a node names by its parameters, and by the inputs that
// its source reports. A sink writes them; any other node reads them.
func touchesOf(f *flow.Flow, n *flow.Node) (t touches) {
	env := envOf(f, n)
	component.Walk(n.Component, n.Params, func(_ *component.Component, params any) {
		for _, p := range component.Paths(params) {
			if urlpath.Is(string(p)) {
				if n.Component.Kind == component.Sink {
					t.sends = append(t.sends, urlpath.Name(string(p)))
				} else {
					t.far = append(t.far, urlpath.Name(string(p)))
				}
				continue
			}
			if n.Component.Kind == component.Sink {
				t.writes = append(t.writes, env.Path(p))
			} else {
				t.reads = append(t.reads, env.Path(p))
			}
		}
		if e, ok := params.(mapper.Exec); ok {
			files, may := e.Files(env)
			t.reads, t.may = append(t.reads, files...), append(t.may, may...)
		}
	})
	if n.Component.Kind == component.Source {
		for _, in := range n.Component.Inputs(env, n.Params) {
			if !urlpath.Is(in.Path) && !slices.ContainsFunc(t.reads, func(r string) bool { return pathguard.Inside(r, in.Path) }) {
				t.reads = append(t.reads, in.Path)
			}
		}
	}
	t.reads = slices.Compact(slices.Sorted(slices.Values(t.reads)))
	return t
}

// envOf returns the environment of a component that only describes what it
// would do.
func envOf(f *flow.Flow, n *flow.Node) *component.Env {
	return &component.Env{Node: n.Name, Dir: cmp.Or(n.Dir, f.Dir), Checked: true}
}
