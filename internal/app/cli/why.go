package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/explain"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
)

func (a *app) whyCommand() *cobra.Command {
	var set variables
	c := &cobra.Command{
		Use:   "why FLOW NODE [SAMPLE] | why KEY | why NAME",
		Short: "Explain why results are computed again",
		Long: `With a flow file and a node: what would be computed now, and what changed since
the last run. With the number of a sample: the same for that sample.

With a key, or the beginning of one: how that result differs from the most similar
earlier result of the same operation. With the name of an operation: the same for
its latest result. Code that is identified by its source is compared declaration
by declaration.`,
		Args: words(1, 3),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.whyCached(c.Context(), args[0])
			}
			sample := -1
			if len(args) == 3 {
				var err error
				if sample, err = sampleNumber(args[2]); err != nil {
					return err
				}
			}
			return a.whyFlow(c.Context(), args[0], args[1], sample, set)
		},
	}
	set.flags(c)
	return c
}

func sampleNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usageError{fmt.Errorf("sample %q: must be a number from 0", text)}
	}
	return n, nil
}

func (a *app) whyFlow(ctx context.Context, file, node string, sample int, set variables) error {
	fl, err := a.parse(file, set)
	if err != nil {
		return err
	}
	targets, err := fl.Targets(node)
	if err != nil {
		return usageError{err}
	}
	if targets[0].Component.Kind == component.Sink {
		return usageError{fmt.Errorf("node %s: a sink computes nothing; name an upstream node", node)}
	}
	if _, err := a.reading(ctx, fl, set); err != nil {
		return err
	}
	return a.withLarder(larder.Options{MemoryBytes: -1}, func(l *larder.Larder) error {
		o := flow.RunOptions{Larder: l, Only: []string{node}, Log: a.logger()}
		if sample >= 0 {
			return a.whySample(ctx, fl, o, node, sample)
		}
		plan, err := fl.Plan(ctx, o)
		if err != nil {
			return flowError(err)
		}
		for _, n := range plan.Nodes {
			if n.Compute > 0 || n.Unknown != "" || n.Name == targets[0].Name {
				a.printReasons(n)
			}
		}
		return nil
	})
}

func (a *app) printReasons(n flow.NodePlan) {
	switch {
	case n.Unknown != "" && n.Compute == 0:
		fmt.Fprintf(a.stdout, "%s: %s\n", n.Name, n.Unknown)
		return
	case n.AtLeast && n.Compute == 0:
		fmt.Fprintf(a.stdout, "%s: the samples that are read depend on results that are not computed yet\n", n.Name)
		return
	case n.Compute == 0:
		fmt.Fprintf(a.stdout, "%s: nothing to compute; %d of %d results are cached\n", n.Name, n.Cached, n.Samples)
		return
	}
	fmt.Fprintf(a.stdout, "%s: %s%d to compute, %d cached\n", n.Name, bounds(n.AtLeast, n.AtMost), n.Compute, n.Cached)
	for _, r := range n.Reasons {
		fmt.Fprintf(a.stdout, "  %s (%d, the first is sample %d)\n", r.Text, r.Count, r.First)
	}
}

func (a *app) whySample(ctx context.Context, fl *flow.Flow, o flow.RunOptions, node string, sample int) error {
	lines, err := fl.Why(ctx, o, node, sample)
	if err != nil {
		return flowError(err)
	}
	for _, line := range lines {
		fmt.Fprintln(a.stdout, line)
	}
	return nil
}

// whyCached explains a cached result.
func (a *app) whyCached(ctx context.Context, name string) error {
	return a.withLarder(larder.Options{MemoryBytes: -1}, func(l *larder.Larder) error {
		k, err := latest(ctx, l, name)
		if err != nil {
			return err
		}
		d, err := explain.Record(ctx, l, k)
		if err != nil {
			return failure{err}
		}
		fmt.Fprintf(a.stdout, "%s %s\n", d.Node, inventory.Short(k))
		if d.Nearest.IsZero() {
			fmt.Fprintln(a.stdout, "  no earlier result of this operation is cached")
			return nil
		}
		fmt.Fprintf(a.stdout, "  differs from %s, the most similar earlier result:\n", inventory.Short(d.Nearest))
		for _, c := range d.Changes {
			fmt.Fprintln(a.stdout, "  "+c)
		}
		return nil
	})
}

// latest finds the record with a name: the one whose key has this prefix,
// otherwise the latest of an operation.
func latest(ctx context.Context, l *larder.Larder, name string) (key.Key, error) {
	sel, err := inventory.Select(ctx, l.Store(), name)
	if err != nil {
		return key.Key{}, inventoryError(err)
	}
	var last inventory.Record
	for r, err := range inventory.Records(ctx, l.Store(), sel) {
		if err != nil {
			return key.Key{}, failure{err}
		}
		if r.Node == name && r.Kind == inventory.Value && r.Created.After(last.Created) {
			last = r
		}
	}
	if !last.Key.IsZero() {
		return last.Key, nil
	}
	r, err := inventory.Find(ctx, l.Store(), strings.TrimSpace(name))
	return r.Key, inventoryError(err)
}
