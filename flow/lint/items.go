package lint

import (
	"maps"
	"slices"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
)

// items is what a node reads and computes of the items of samples.
type items struct {
	reads []string // nil if any
	makes []string
	any   bool // it may read any item
	open  bool // it may compute any item
}

// itemsOf finds out, once, what the mappers of a node read and compute.
func (g *graph) itemsOf(n *flow.Node) items {
	it, ok := g.items[n]
	if !ok {
		it = g.itemsOfMappers(n)
		g.items[n] = it
	}
	return it
}

func (g *graph) itemsOfMappers(n *flow.Node) (it items) {
	if p, ok := as[mapper.Python](n); ok {
		return items{reads: p.Items, makes: p.Into}
	}
	if it, ok := wholeItems(n); ok {
		return it
	}
	mappers, err := g.Mappers(n)
	if err != nil {
		return items{any: true, open: true}
	}
	for _, m := range mappers {
		transform, ok := m.(dataset.Transform)
		if !ok {
			it.any, it.open = true, true
			continue
		}
		it.any = it.any || transform.Reads() == nil
		it.open = it.open || transform.Makes() == nil
		it.reads, it.makes = append(it.reads, transform.Reads()...), append(it.makes, transform.Makes()...)
	}
	return it
}

// wholeItems describes a node that sets whole items, whatever the sample has.
// ok is false for other nodes: setting a part of an item depends on whether the
// item exists.
func wholeItems(n *flow.Node) (it items, ok bool) {
	var paths []string
	if p, ok := as[mapper.SetValue](n); ok {
		paths = []string{p.Key}
	}
	if p, ok := as[mapper.Compute](n); ok {
		for _, path := range slices.Sorted(maps.Keys(p.Set)) {
			e, err := expr.Compile(p.Set[path])
			if err != nil {
				return items{}, false
			}
			paths = append(paths, path)
			it.reads = append(append(it.reads, e.Reads()...), e.May()...)
		}
	}
	for _, text := range paths {
		path, err := dataset.ParsePath(text)
		if err != nil || path.Inside() {
			return items{}, false
		}
		it.makes = append(it.makes, path.Item)
	}
	return it, len(paths) > 0
}

// expressions returns the formulas by which an operator reads samples. ok is
// false if it may read them in another way.
func expressions(n *flow.Node) (all []string, ok bool) {
	switch p := n.Params.(type) {
	case op.Filter:
		return []string{p.Where}, true
	case op.Sort:
		return []string{p.By}, true
	case op.WeightedSample:
		return []string{p.Weight}, true
	case op.GroupBy:
		return []string{p.By}, true
	case op.Split:
		return []string{p.Stratify, p.Hash}, true
	case op.MapIf:
		return []string{p.Where}, true
	case op.Clone, op.Slice, op.Reverse, op.Repeat, op.Cycle, op.Index, op.Pad, op.Shuffle, op.Shard, op.Sample,
		op.CheckLength, op.Cat, op.Interleave, op.Mix, op.Batch, op.Chunk, op.Enumerate:
		return nil, true
	case op.Zip:
		return nil, p.Keys == nil // else it renames items
	}
	return nil, false
}

func namesIn(text, item string) bool {
	if text == "" {
		return false
	}
	e, err := expr.Compile(text)
	return err != nil || slices.Contains(e.Reads(), item) || slices.Contains(e.May(), item)
}

// movesNames reports whether a node only renames or drops items.
func movesNames(n *flow.Node) bool {
	switch n.Params.(type) {
	case mapper.DropKeys, mapper.KeepKeys, mapper.Rename, mapper.FormatKeys, mapper.Duplicate, mapper.Share:
		return true
	}
	return false
}
