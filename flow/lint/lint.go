// Package lint finds what is right in a flow and yet likely to be a mistake, or to
// cost more than it has to: samples shuffled where that does little, results that
// nobody reads, caches that can hold nothing for long enough.
//
// A [Rule] has a name and looks at the graph, and not at the text of a file. What it
// finds is a [Warning], with the place, the reason and the cure. docs/reference/lint-rules.md has a
// section for each rule. Rules would rather miss something than be wrong: where it
// cannot be known that there is something the matter, they say nothing.
package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
)

// A Warning is one thing that is likely to be a mistake.
type Warning struct {
	Rule string
	Node string // as the file calls it
	At   flow.Position
	What string // what is the matter, and why that is bad
	Cure string // what to do
}

// Page is where documentation says more about the rule of the warning.
func (w Warning) Page() string { return "docs/reference/lint-rules.md#" + w.Rule }

// String says what is the matter, what to do, and where to read on.
func (w Warning) String() string {
	return fmt.Sprintf("node %s: %s; cure: %s (%s)", w.Node, w.What, w.Cure, w.Page())
}

// A Rule looks for one kind of mistake.
type Rule struct {
	Name  string
	check func(g *graph) []Warning
}

// Rules lists all rules.
func Rules() []Rule {
	return []Rule{
		{"shard-before-shuffle", shardBeforeShuffle},
		{"shuffle-after-batch", shuffleAfterBatch},
		{"repeat-before-shuffle", repeatBeforeShuffle},
		{"double-shard", doubleShard},
		{"random-before-keep", randomBeforeKeep},
		{"fixed-draw", fixedDraw},
		{"cache-too-small", cacheTooSmall},
		{"buffer-too-large", bufferTooLarge},
		{"unused-result", unusedResult},
		{"repeated-decode", repeatedDecode},
		{"costly-checkpoint", costlyCheckpoint},
	}
}

// Options say what rules may look at beside the graph.
type Options struct {
	// Sources has sources opened where it matters how many samples they have. What
	// takes longer than two seconds, or is not there, is not known then.
	Sources bool
	// Larder, if not nil, has the results that nodes kept, and what they cost.
	Larder *larder.Larder
}

// Check returns what all rules find in a flow, in the order of its file.
func Check(ctx context.Context, f *flow.Flow, o Options) []Warning {
	g := newGraph(ctx, f, o)
	var all []Warning
	said := map[Warning]bool{}
	for _, r := range Rules() {
		for _, w := range r.check(g) {
			w.Rule = r.Name
			if !said[w] { // variants of a sweep are one node of the file
				said[w], all = true, append(all, w)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Warning) int {
		return cmp.Or(strings.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return all
}

// at is a warning about a node.
func at(n *flow.Node, cure, format string, args ...any) Warning {
	return Warning{Node: name(n), At: n.Position(), What: fmt.Sprintf(format, args...), Cure: cure}
}

// name is what the file calls a node.
func name(n *flow.Node) string { return cmp.Or(n.Base, n.Name) }
