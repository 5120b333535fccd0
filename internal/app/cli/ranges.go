package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/display"
)

type rangesFlags struct {
	set    variables
	from   flowFile
	only   []string
	fails  string
	shards int
	json   bool
}

func (a *app) rangesCommand() *cobra.Command {
	var f rangesFlags
	c := &cobra.Command{
		Use:   "ranges FLOW --shards N",
		Short: "Show the stages of a flow, and the samples that each of N shards computes",
		Long: `Shows the stages of a flow, and the samples that each of N shards computes in
larder run --shard I/N. Stages follow one another: operators such as filter, sort and
group-by read all results of the stage before. The ranges of a later stage are known when
the results that they depend on are cached. Nothing is computed.`,
		Args: words(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.ranges(c.Context(), args[0], f) },
	}
	f.set.flags(c)
	f.from.flags(c)
	c.Flags().StringArrayVar(&f.only, "only", nil, "the stages of a run of this `node`, or NODE.OUTPUT for one of several outputs; may be repeated")
	c.Flags().StringVar(&f.fails, "on-error", "fail", "the option of the run: a node that skips samples ends a stage")
	c.Flags().IntVar(&f.shards, "shards", 0, "`number` of shards")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (a *app) ranges(ctx context.Context, file string, f rangesFlags) error {
	if f.shards < 1 {
		return usageError{errors.New("give --shards, the number of shards, 1 or more")}
	}
	fl, err := f.from.parse(a, file, f.set)
	if err != nil {
		return err
	}
	onError, err := flow.ParseOnError(f.fails)
	if err != nil {
		return usageError{fmt.Errorf("--on-error %w", err)}
	}
	return a.withLarder(larder.Options{}, func(l *larder.Larder) error {
		stages, err := fl.ShardRanges(ctx, flow.RunOptions{Larder: l, Only: f.only, OnError: onError, Log: a.logger()}, f.shards)
		if err != nil {
			return flowError(err)
		}
		if f.json {
			return writeJSON(a.stdout, map[string]any{"stages": stages})
		}
		return writeRanges(a.stdout, stages)
	})
}

func writeRanges(w io.Writer, stages []flow.StageRanges) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "stage\tshard\tnode\tfrom\tto\t")
	for _, stage := range stages {
		if stage.Ranges == nil {
			fmt.Fprintf(t, "%d\t?\t%s\tafter stage %d\t\t\n", stage.Number, display.Name(strings.Join(stage.Nodes, ", ")), stage.Number-1)
		}
		for _, r := range stage.Ranges {
			node := display.Name(r.Node)
			if r.Part > 0 {
				node += fmt.Sprintf(" (output %d)", r.Part)
			}
			fmt.Fprintf(t, "%d\t%d\t%s\t%d\t%d\t\n", stage.Number, r.Shard, node, r.From, r.To)
		}
	}
	return written(t.Flush())
}
