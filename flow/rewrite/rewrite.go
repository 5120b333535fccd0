// Package rewrite provides common edits of flows: shuffling and sharding, seeds
// and epochs, workers and time limits, and trial runs on a few samples.
//
// Each function takes a [flow.Editor], which returns the new flow and all
// errors at the end:
//
//	e := f.Edit()
//	rewrite.Reseed(e, 7)
//	rewrite.Trial(e, 100, "trial")
//	g, err := e.Flow()
package rewrite

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/op"
)

// NoShuffle makes all shuffle operators pass on samples in their order.
func NoShuffle(e *flow.Editor) {
	for _, n := range e.Nodes {
		if _, ok := n.Params.(op.Shuffle); ok {
			e.Replace(n.Name, op.Clone{})
		}
	}
}

// Shuffle shuffles the output of a node for all its readers. It inserts a node
// NODE-shuffled, or NODE-shuffled-2 if there is one.
func Shuffle(e *flow.Editor, node string, seed int) {
	e.After(node, fresh(e, node, "-shuffled"), op.Shuffle{Seed: seed})
}

// Shard gives all readers of a node the share of one process. It inserts a node
// NODE-share, or NODE-share-2 if there is one. A caller that also shuffles
// should do so before.
func Shard(e *flow.Editor, node string, rank, ranks int) {
	e.After(node, fresh(e, node, "-share"), op.Shard{Rank: rank, WorldSize: ranks})
}

// fresh returns the name of a new node next to another one, with a number if
// the name is taken.
func fresh(e *flow.Editor, node, ending string) string {
	for _, n := range e.Nodes {
		if n.Name == node && n.Base != "" {
			node = n.Base // of a sweep: the new node gets its values
		}
	}
	base := node + ending
	for name, i := base, 2; ; name, i = fmt.Sprintf("%s-%d", base, i), i+1 {
		if !slices.ContainsFunc(e.Nodes, func(n *flow.Node) bool { return n.Name == name || n.Base == name }) {
			return name
		}
	}
}

// Reseed adds a number to every seed. All random draws change, and draws with
// different seeds stay different. A seed without effect, as in a split by
// sizes, stays.
func Reseed(e *flow.Editor, by int) {
	each(e, "seed", func(v reflect.Value) { v.SetInt(v.Int() + int64(by)) })
}

// Epoch sets every epoch that has an effect.
func Epoch(e *flow.Editor, epoch int) {
	each(e, "epoch", func(v reflect.Value) { v.SetInt(int64(epoch)) })
}

// each changes all numeric parameters with a name, where they may be changed.
func each(e *flow.Editor, name string, to func(v reflect.Value)) {
	for _, n := range e.Nodes {
		n.Params, _ = setting{name, reflect.Int, to, true}.change(n.Component, n.Params)
	}
}

// Workers bounds how many samples a node computes concurrently; 0 leaves it to
// the run.
func Workers(e *flow.Editor, node string, workers int) {
	for _, n := range e.Called(node) {
		n.Options.Workers = workers
	}
}

// TimeLimit bounds how long the command or the function of a node may take for
// a sample.
func TimeLimit(e *flow.Editor, node string, limit time.Duration) {
	for _, n := range e.Called(node) {
		var found bool
		to := setting{"timeout", reflect.String, func(v reflect.Value) { v.SetString(limit.String()) }, false}
		n.Params, found = to.change(n.Component, n.Params)
		if !found {
			e.Fail(fmt.Errorf("node %s: %s %s has no timeout; set one for exec or python", n.Name, n.Component.Kind, n.Component.Name))
		}
	}
}

// Trial limits each source to its first samples, and makes each sink write into
// a directory of its name in dir. The sinks do not touch the output of other
// runs. A relative dir starts at the flow's directory.
func Trial(e *flow.Editor, samples int, dir string) {
	e.Name += "-trial"
	first := map[string]string{} // names, one for all variants of a node
	for _, n := range e.Find(func(*flow.Node) bool { return true }) {
		switch n.Component.Kind {
		case component.Source:
			of := cmp.Or(n.Base, n.Name)
			if first[of] == "" {
				first[of] = fresh(e, of, "-first")
			}
			e.After(n.Name, first[of], op.Slice{Stop: &samples})
		case component.Sink:
			n.Params = moved(n, filepath.Join(dir, n.Name))
			n.Dir = ""
		case component.Map, component.Op:
		}
	}
}

// moved returns the parameters of a sink that writes into another directory.
func moved(n *flow.Node, dir string) any {
	v := reflect.New(n.Component.Type).Elem()
	v.Set(reflect.ValueOf(n.Params))
	for _, p := range n.Component.Params {
		if path, ok := v.Field(p.Field).Interface().(component.Path); ok && path != "" {
			v.Field(p.Field).Set(reflect.ValueOf(component.Path(filepath.Join(dir, filepath.Base(string(path))))))
		}
	}
	return v.Interface()
}
