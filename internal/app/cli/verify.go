package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
)

func (a *app) verifyCommand() *cobra.Command {
	var set variables
	sample := 1.0
	generate, output := "", ""
	c := &cobra.Command{
		Use:   "verify FLOW",
		Short: "Compute cached results again and compare them",
		Long: `Computes the cached results of a flow again, or a sample of them, and compares
byte by byte. A result that differs depends on randomness, or on something that its key
does not cover. Such results are listed, and the exit status is 1.

A Go program that caches results checks its own: LARDER_VERIFY=1/100 checks one
hit in a hundred.

With --generate DIRECTORY, it writes a test for the Go package there that pins the
keys and results of its package variables of type lazy.Value.`,
		Args: func(_ *cobra.Command, args []string) error {
			if (generate == "") != (len(args) == 1) {
				return errors.New("give a flow file, or --generate DIRECTORY")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if generate != "" {
				return a.generate(c.Context(), generate, output)
			}
			if sample <= 0 || sample > 1 {
				return usageError{fmt.Errorf("--sample %v: must be more than 0 and at most 1", sample)}
			}
			return a.verify(c.Context(), args[0], set, sample)
		},
	}
	set.flags(c)
	c.Flags().Float64Var(&sample, "sample", 1, "compute this `part` of the cached results again, such as 0.1")
	c.Flags().StringVar(&generate, "generate", "", "write a test for the Go package in this `directory`")
	c.Flags().StringVarP(&output, "output", "o", "", "with --generate: the test `file` (default: larder_pins_test.go in the directory)")
	return c
}

func (a *app) verify(ctx context.Context, file string, set variables, sample float64) error {
	fl, err := a.parse(file, set)
	if err != nil {
		return err
	}
	var cached []string
	for _, n := range fl.Nodes {
		if n.Options.Keep || n.Options.Checkpoint || n.Options.Auto {
			cached = append(cached, n.Name)
		}
	}
	if len(cached) == 0 {
		return usageError{fmt.Errorf("%s: no node caches its results; set keep or checkpoint", file)}
	}
	if _, err := a.reading(ctx, fl, set); err != nil {
		return err
	}
	var mu sync.Mutex
	var found []larder.Mismatch
	check := larder.Verification{Sample: sample, Found: func(m larder.Mismatch) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, m)
	}}
	return a.withLarder(larder.Options{MemoryBytes: -1, Verify: check}, func(l *larder.Larder) error {
		if _, err := fl.Run(ctx, flow.RunOptions{Larder: l, Only: cached, Log: a.logger()}); err != nil {
			return failure{err}
		}
		for _, m := range found {
			fmt.Fprintln(a.stdout, m)
		}
		m := l.Metrics()
		fmt.Fprintf(a.stderr, "%d cached results computed again, %d differ; %d were not cached and are now\n", m.Verified, len(found), m.Computed)
		if len(found) > 0 {
			return failure{errReported}
		}
		return nil
	})
}
