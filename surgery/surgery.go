// Package surgery has edits of flows that are wanted often: shuffling and sharding, seeds
// and epochs, workers and bounds of time, a run on a few samples for trial.
//
// Each takes a [flow.Editor], of which the other flow comes in the end, with whatever was
// wrong:
//
//	e := f.Edit()
//	surgery.Reseed(e, 7)
//	surgery.Trial(e, 100, "trial")
//	g, err := e.Flow()
package surgery

import (
	"fmt"
	"path/filepath"
	"reflect"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/op"
)

// NoShuffle has all operators shuffle pass on samples in their order.
func NoShuffle(e *flow.Editor) {
	for _, n := range e.Nodes {
		if _, ok := n.Params.(op.Shuffle); ok {
			e.Replace(n.Name, op.Clone{})
		}
	}
}

// Shuffle shuffles what a node puts out for all who read it, by a node NODE-shuffled.
func Shuffle(e *flow.Editor, node string, seed int) {
	e.After(node, node+"-shuffled", op.Shuffle{Seed: seed})
}

// Shard gives all who read a node the share of one process, by a node NODE-share. Who
// shuffles should do so before.
func Shard(e *flow.Editor, node string, rank, ranks int) {
	e.After(node, node+"-share", op.Shard{Rank: rank, WorldSize: ranks})
}

// Reseed adds to every seed, so that all is drawn anew, and what was drawn with different
// seeds is so again.
func Reseed(e *flow.Editor, by int) {
	each(e, "seed", func(v reflect.Value) { v.SetInt(v.Int() + int64(by)) })
}

// Epoch sets every epoch.
func Epoch(e *flow.Editor, epoch int) {
	each(e, "epoch", func(v reflect.Value) { v.SetInt(int64(epoch)) })
}

// each changes all parameters of a name that are numbers.
func each(e *flow.Editor, name string, to func(v reflect.Value)) {
	for _, n := range e.Nodes {
		n.Params, _ = change(n.Component, n.Params, name, reflect.Int, to)
	}
}

// Workers bounds how many samples are made at once at a node; 0 leaves it to the run.
func Workers(e *flow.Editor, node string, workers int) {
	for _, n := range e.Called(node) {
		n.Options.Workers = workers
	}
}

// TimeLimit bounds how long the command or the function of a node may take for a sample.
func TimeLimit(e *flow.Editor, node string, limit time.Duration) {
	for _, n := range e.Called(node) {
		var found bool
		n.Params, found = change(n.Component, n.Params, "timeout", reflect.String, func(v reflect.Value) { v.SetString(limit.String()) })
		if !found {
			e.Fail(fmt.Errorf("node %s: %s %s has no bound of time; those of exec and python can be set", n.Name, n.Component.Kind, n.Component.Name))
		}
	}
}

// Trial has each source pass on its first samples alone, at most so many, and each sink
// write into a folder of its name in dir, where it touches nothing that another run wrote.
// A relative dir starts at the flow's folder.
func Trial(e *flow.Editor, samples int, dir string) {
	e.Name += "-trial"
	for _, n := range e.Find(func(*flow.Node) bool { return true }) {
		switch n.Component.Kind {
		case component.Source:
			e.After(n.Name, n.Name+"-first", op.Slice{Stop: &samples})
		case component.Sink:
			n.Params = moved(n, filepath.Join(dir, n.Name))
			n.Dir = ""
		case component.Map, component.Op:
		}
	}
}

// moved are the parameters of a sink that writes into another folder.
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

// change returns parameters in which those of a name and a kind are changed, in the mappers
// among them, too; found says whether there are any.
func change(c *component.Component, params any, name string, kind reflect.Kind, to func(v reflect.Value)) (changed any, found bool) {
	v := reflect.New(c.Type).Elem()
	v.Set(reflect.ValueOf(params))
	for _, p := range c.Params {
		f := v.Field(p.Field)
		switch s := f.Interface().(type) {
		case component.Step:
			found = changeSteps([]component.Step{s}, f, name, kind, to) || found
		case []component.Step:
			found = changeSteps(s, f, name, kind, to) || found
		default:
			if p.Name == name && f.Kind() == kind {
				to(f)
				found = true
			}
		}
	}
	return v.Interface(), found
}

// changeSteps sets a parameter to steps whose parameters are changed.
func changeSteps(steps []component.Step, in reflect.Value, name string, kind reflect.Kind, to func(v reflect.Value)) (found bool) {
	all := make([]component.Step, len(steps))
	for i, s := range steps {
		if all[i] = s; s.Component != nil {
			var has bool
			all[i].Params, has = change(s.Component, s.Params, name, kind, to)
			found = found || has
		}
	}
	if in.Kind() == reflect.Slice {
		in.Set(reflect.ValueOf(all))
	} else {
		in.Set(reflect.ValueOf(all[0]))
	}
	return found
}
