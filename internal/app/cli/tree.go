package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/explain"
)

func (a *app) treeCommand() *cobra.Command {
	var set variables
	format := "text"
	c := &cobra.Command{
		Use:   "tree FLOW [NODE [SAMPLE]] | tree KEY | tree NAME",
		Short: "Show the dependencies of a flow or result",
		Long: `With a flow file: its nodes, or those that a node depends on, with their cached
results and what these cost. With the number of a sample: what that sample depends
on, down to the files.

With a key, the beginning of one, or the name of an operation for its latest
result: what that result was computed from, as far as it is cached.`,
		Args: words(1, 3),
		RunE: func(c *cobra.Command, args []string) error {
			write, ok := map[string]func(explain.Tree) error{
				"text":    func(t explain.Tree) error { return t.WriteText(a.stdout) },
				"dot":     func(t explain.Tree) error { return t.WriteDOT(a.stdout) },
				"mermaid": func(t explain.Tree) error { return t.WriteMermaid(a.stdout) },
			}[format]
			if !ok {
				return usageError{fmt.Errorf("--format %q: give text, dot or mermaid", format)}
			}
			t, err := a.tree(c.Context(), args, set)
			if err != nil {
				return err
			}
			return written(write(t))
		},
	}
	set.flags(c)
	c.Flags().StringVar(&format, "format", format, "text, dot or mermaid")
	return c
}

func (a *app) tree(ctx context.Context, args []string, set variables) (t explain.Tree, err error) {
	fl, flowErr := a.parse(args[0], set)
	if flowErr != nil && (len(args) > 1 || isFile(args[0])) {
		return t, flowErr
	}
	if flowErr == nil {
		if _, err := a.reading(ctx, fl, set); err != nil {
			return t, err
		}
	}
	err = a.withLarder(larder.Options{MemoryBytes: -1}, func(l *larder.Larder) error {
		if len(args) == 3 {
			t, err = sampleTree(ctx, fl, flow.RunOptions{Larder: l, Log: a.logger()}, args[1], args[2])
			return err
		}
		if flowErr == nil {
			t, err = flowTree(ctx, fl, flow.RunOptions{Larder: l, Only: args[1:], Log: a.logger()})
			return err
		}
		k, err := latest(ctx, l, args[0])
		if err != nil {
			return err
		}
		if t, err = explain.TreeOf(ctx, l.Store(), k); err != nil {
			return failure{err}
		}
		return nil
	})
	return t, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// flowTree returns the graph of a flow, with the cached results of each node.
func flowTree(ctx context.Context, fl *flow.Flow, o flow.RunOptions) (explain.Tree, error) {
	plan, err := fl.Plan(ctx, o)
	if err != nil {
		return explain.Tree{}, flowError(err)
	}
	var t explain.Tree
	for _, n := range plan.Nodes {
		node, err := fl.Node(n.Name)
		if err != nil {
			return t, failure{err}
		}
		at := explain.TreeNode{ID: n.Name, Label: fmt.Sprintf("%s (%s)", n.Name, n.Component), Note: noteOf(n), Cached: n.Compute == 0 && n.Cached > 0 && !n.AtLeast}
		if n.Seconds > 0 {
			at.Note += fmt.Sprintf(" (they cost %.3gs)", n.Seconds)
		}
		for _, in := range node.From {
			at.From = append(at.From, in.Node)
		}
		t.Nodes = append(t.Nodes, at)
	}
	return t, nil
}

// sampleTree returns the dependencies of one sample of a node, down to the
// files.
func sampleTree(ctx context.Context, fl *flow.Flow, o flow.RunOptions, node, number string) (explain.Tree, error) {
	sample, err := sampleNumber(number)
	if err != nil {
		return explain.Tree{}, err
	}
	all, err := fl.Lineage(ctx, o, node, sample)
	if err != nil {
		return explain.Tree{}, flowError(err)
	}
	var t explain.Tree
	for i, n := range all {
		items := strings.Join(n.Items, ", ")
		at := explain.TreeNode{ID: strconv.Itoa(i), Label: items, Note: n.From, Cached: n.Cached}
		switch {
		case i == 0:
			at.Label, at.Note = fmt.Sprintf("%s, sample %d", n.Node, n.Index), items
		case n.Node != "":
			at.Note = fmt.Sprintf("made by %s, sample %d", n.Node, n.Index)
		}
		for _, of := range n.Of {
			at.From = append(at.From, strconv.Itoa(of))
		}
		t.Nodes = append(t.Nodes, at)
	}
	return t, nil
}

func noteOf(n flow.NodePlan) string {
	switch {
	case n.Unknown != "":
		return n.Unknown
	case n.Cached+n.Compute > 0:
		return fmt.Sprintf("%d samples, %d cached, %s%d to compute", n.Samples, n.Cached, bounds(n.AtLeast, n.AtMost), n.Compute)
	}
	return fmt.Sprintf("%d samples", n.Samples)
}
