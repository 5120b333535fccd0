package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/mapper/schema"
	"github.com/larder-data/larder/pool"
)

type validateFlags struct {
	set     variables
	schema  string
	infer   bool
	json    bool
	workers int
	schema.Options
}

func (a *app) validateCommand() *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "validate [FORMAT:]PATH[,k=v]... | FLOW NODE",
		Short: "Check samples against a schema, or infer one",
		Long: `Checks the samples of a dataset, or of a node of a flow, against a schema: a YAML
file with the items and their kinds, sizes and shapes. Each violation is listed by
sample, item and position, and the exit status is 1.

With --infer, prints the schema that the samples of a dataset have in common.`,
		Args: words(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.validate(c.Context(), args, f)
		},
	}
	c.Flags().StringVar(&f.schema, "schema", "", "the schema, a YAML `file`")
	c.Flags().BoolVar(&f.infer, "infer", false, "print the schema that the samples have in common")
	c.Flags().IntVar(&f.First, "first", 0, "check only the first `n` samples")
	c.Flags().IntVar(&f.Limit, "limit", 100, "list at most `n` violations")
	c.Flags().IntVar(&f.workers, "workers", 0, "concurrent samples (default: the number of processors)")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	f.set.flags(c)
	return c
}

func (a *app) validate(ctx context.Context, args []string, f validateFlags) error {
	if (f.schema != "") == f.infer {
		return usageError{errors.New("give either --schema FILE to check samples, or --infer to print a schema")}
	}
	if f.First < 0 || f.workers < 0 || f.Limit < 1 {
		return usageError{errors.New("--first and --workers must not be negative, and --limit must be at least 1")}
	}
	var s *schema.Schema
	if !f.infer {
		content, err := os.ReadFile(f.schema)
		if err != nil {
			return usageError{err}
		}
		if s, err = schema.Parse(f.schema, content); err != nil {
			return usageError{err}
		}
	}
	fl, node, err := a.sourceOrFlow(args, f.set)
	if err != nil {
		return usageError{err}
	}
	if _, err := a.reading(ctx, fl, f.set, pathguard.Input{Owner: "--schema", Path: f.schema}); err != nil {
		return err
	}
	f.Pool = pool.New(f.workers)
	return a.withLarder(larder.Options{}, func(l *larder.Larder) error {
		data, err := fl.Open(ctx, node, flow.RunOptions{Larder: l, Pool: f.Pool, Log: a.logger()})
		if err != nil {
			return flowError(err)
		}
		ds, err := data.Single()
		if err != nil {
			return usageError{err}
		}
		if f.infer {
			return a.writeInferred(ctx, ds, f)
		}
		report, err := s.Validate(ctx, ds, f.Options)
		if err != nil {
			return failure{err}
		}
		return a.writeViolations(report, f.json)
	})
}

func (a *app) writeInferred(ctx context.Context, ds component.Samples, f validateFlags) error {
	s, err := schema.Infer(ctx, ds, f.Options)
	if err != nil {
		return failure{err}
	}
	b, err := s.YAML()
	if err != nil {
		return failure{err}
	}
	_, err = a.stdout.Write(b)
	return written(err)
}

func (a *app) writeViolations(r *schema.Report, asJSON bool) error {
	if asJSON {
		if err := writeJSON(a.stdout, r); err != nil {
			return err
		}
	} else {
		b := bufio.NewWriter(a.stdout)
		for _, v := range r.List {
			fmt.Fprintln(b, printable(v.String()))
		}
		if err := b.Flush(); err != nil {
			return failure{err}
		}
	}
	if r.Violations == 0 {
		fmt.Fprintf(a.stderr, "%d %s, no violations\n", r.Samples, plural(int64(r.Samples), "sample"))
		return nil
	}
	more := ""
	if hidden := r.Violations - len(r.List); hidden > 0 {
		more = fmt.Sprintf("; %d more are not listed", hidden)
	}
	return failure{fmt.Errorf("%d of %d samples violate the schema%s", r.Bad, r.Samples, more)}
}
