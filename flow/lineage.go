package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// A LineageStep is one step in the lineage of a sample: a computation, or the
// origin of an item that no node computes.
type LineageStep struct {
	Node   string   // of the computation; "" for an item that no node computes
	Index  int      // position of the sample in that node
	Items  []string // items that the step computes or reads
	From   string   // origin of an item that no node computes, such as a file
	Cached bool     // the result of the computation is cached
	Of     []int    // indexes in the list of the steps that it depends on
}

// Lineage follows one sample of a node back to the files that it depends on.
// It computes nothing. The first element of the list is the sample itself, as
// its node outputs it.
func (f *Flow) Lineage(ctx context.Context, o RunOptions, node string, sample int) ([]LineageStep, error) {
	if nodes, _, err := f.find(node); err != nil {
		return nil, requestError{err}
	} else if nodes[0].Component.Kind == component.Sink {
		return nil, requestError{fmt.Errorf("node %s is a sink; name the node whose samples the sink writes", node)}
	}
	ctx = larder.CachedOnly(ctx)
	_, s, err := f.planned(ctx, o, node, sample)
	if err != nil {
		return nil, err
	}
	a := &ancestry{list: []LineageStep{{Node: node, Index: sample, Items: s.Keys()}}, at: map[any]int{}}
	if err := a.follow(ctx, s); err != nil {
		return nil, err
	}
	return a.list, nil
}

// ancestry is a list under construction.
type ancestry struct {
	list []LineageStep
	at   map[any]int // indexes of computations by Execution, of other steps by item
}

// follow adds the origins of the items of a sample, and their origins in turn.
// It uses an explicit stack because chains may be long.
func (a *ancestry) follow(ctx context.Context, s dataset.Sample) error {
	type open struct {
		of    int
		items dataset.Sample
	}
	for left := []open{{0, s}}; len(left) > 0; left = left[1:] {
		for f := range left[0].items.Fields() {
			at, made, err := a.add(ctx, f)
			if err != nil {
				return err
			}
			if made != nil {
				left = append(left, open{at, made.Inputs()})
			}
			of := &a.list[left[0].of]
			if len(of.Of) == 0 || of.Of[len(of.Of)-1] != at {
				of.Of = append(of.Of, at)
			}
		}
	}
	return nil
}

// add adds the origin of an item. It returns the computation if it is one that
// was not in the list.
func (a *ancestry) add(ctx context.Context, f dataset.Field) (at int, made *dataset.Execution, err error) {
	e, computed := dataset.ExecutionOf(f.Item)
	var id any = f.Item
	if computed {
		id = e
	}
	at, there := a.at[id]
	switch {
	case there:
		if items := &a.list[at].Items; !slices.Contains(*items, f.Key) {
			*items = append(*items, f.Key)
		}
		return at, nil, nil
	case computed:
		err = e.Make(ctx)
		if err != nil && !errors.Is(err, larder.ErrNotCached) {
			return 0, nil, err
		}
		a.list = append(a.list, LineageStep{Node: e.Node(), Index: e.Index(), Items: []string{f.Key}, Cached: err == nil})
	default:
		a.list = append(a.list, LineageStep{Items: []string{f.Key}, From: dataset.Describe(f.Item.Origin())})
	}
	at = len(a.list) - 1
	a.at[id] = at
	return at, e, nil
}
