// Package lint provides rules that find likely mistakes and unnecessary costs
// in valid flows. Examples are shuffles with little effect, results without a
// reader, and caches that are too small.
//
// A [Rule] has a name and examines the graph, not the text of a file. It
// reports a [Warning] with the place, the reason and the fix.
// docs/reference/lint-rules.md has a section for each rule. Rules prefer
// missing a mistake to a false warning: in doubt, they report nothing.
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

// A Warning is a likely mistake.
type Warning struct {
	Rule string
	Node string // its name in the file
	At   flow.Position
	What string // the mistake, and why it is bad
	Fix  string // the fix
}

// Page returns the section of the documentation about the rule.
func (w Warning) Page() string { return "docs/reference/lint-rules.md#" + w.Rule }

// String returns the mistake, the fix, and the page to read.
func (w Warning) String() string {
	return fmt.Sprintf("node %s: %s; fix: %s (%s)", w.Node, w.What, w.Fix, w.Page())
}

// A Rule finds one kind of mistake.
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

// Options say what rules may use besides the graph.
type Options struct {
	// Sources lets rules open sources to count their samples. The count is
	// unknown if that takes longer than two seconds, or if the data does not
	// exist.
	Sources bool
	// Larder, if not nil, has the cached results of nodes and their costs.
	Larder *larder.Larder
}

// Check returns the findings of all rules for a flow, in the order of its file.
func Check(ctx context.Context, f *flow.Flow, o Options) []Warning {
	g := newGraph(ctx, f, o)
	var all []Warning
	seen := map[Warning]bool{}
	for _, r := range Rules() {
		for _, w := range r.check(g) {
			w.Rule = r.Name
			if !seen[w] { // variants of a sweep are one node of the file
				seen[w], all = true, append(all, w)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Warning) int {
		return cmp.Or(strings.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return all
}

func at(n *flow.Node, fix, format string, args ...any) Warning {
	return Warning{Node: name(n), At: n.Position(), What: fmt.Sprintf(format, args...), Fix: fix}
}

func name(n *flow.Node) string { return cmp.Or(n.Base, n.Name) }
