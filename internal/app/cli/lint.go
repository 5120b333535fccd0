package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/flow/lint"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
)

type lintFlags struct {
	set    variables
	from   flowFile
	strict bool
	json   bool
}

func (a *app) lintCommand() *cobra.Command {
	var f lintFlags
	c := &cobra.Command{
		Use:   "lint FLOW",
		Short: "Check a flow file without running it",
		Long: `Lists all errors of a flow (- for standard input), and warns of likely mistakes.
Each warning has its position, the reason, a fix, and a section of
docs/reference/lint-rules.md. Nothing is computed. Rules that need the number of
samples open sources, for two seconds at most. Costs of results are read from the
cache.`,
		Args: words(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.lint(c.Context(), args[0], f) },
	}
	f.set.flags(c)
	f.from.flags(c)
	c.Flags().BoolVar(&f.strict, "strict", false, "exit with status 1 if there are warnings")
	c.Flags().BoolVar(&f.json, "json", false, "print a JSON list of errors and warnings")
	return c
}

func (a *app) lint(ctx context.Context, file string, f lintFlags) error {
	fl, err := f.from.parse(a, file, f.set)
	if err == nil {
		err = writesApart(fl, file)
	}
	if err != nil {
		if f.json {
			err = errors.Join(err, writeJSON(a.stdout, findingsOf(file, err)))
		}
		return err
	}
	found := a.warn(ctx, fl)
	if f.json {
		err = writeJSON(a.stdout, findingsIn(found))
	} else {
		a.printWarnings(file, fl, found)
	}
	if err == nil && f.strict && len(found) > 0 {
		return failure{fmt.Errorf("%s: %s with --strict", display.Name(file), warningsText(found))}
	}
	return err
}

// writesApart refuses sinks that would overwrite each other.
func writesApart(fl *flow.Flow, file string) error {
	sinks, err := fl.Outputs()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to run but by name
	}
	if err := pathguard.CheckDisjoint(sinks...); err != nil {
		return usageError{fmt.Errorf("%s: %w", file, err)}
	}
	return nil
}

// warn finds likely mistakes. It does not create a cache.
func (a *app) warn(ctx context.Context, fl *flow.Flow) (found []lint.Warning) {
	look := func(l *larder.Larder) error {
		found = lint.Check(ctx, fl, lint.Options{Sources: true, Larder: l})
		return nil
	}
	if _, err := os.Stat(a.shownDir()); err != nil || !hasCheckpoint(fl) || a.withLarder(larder.Options{MemoryBytes: -1}, look) != nil {
		_ = look(nil) // the findings without the cache
	}
	return found
}

func hasCheckpoint(fl *flow.Flow) bool {
	return slices.ContainsFunc(fl.Nodes, func(n *flow.Node) bool { return n.Options.Checkpoint })
}

func (a *app) printWarnings(file string, fl *flow.Flow, found []lint.Warning) {
	for _, w := range found {
		e := flow.Error{File: w.At.File, Line: w.At.Line, Column: w.At.Column, Msg: w.String()}
		fmt.Fprintln(a.stderr, "larder: warning:", indentContinuations(urlpath.Hide(display.Printable(e.Error()))))
	}
	what := "nothing wrong"
	if len(found) > 0 {
		what = warningsText(found)
	}
	fmt.Fprintf(a.stderr, "%s: %d nodes, %s\n", display.Name(file), len(fl.Nodes), what)
}

func warningsText(found []lint.Warning) string {
	return fmt.Sprintf("%d %s", len(found), plural(int64(len(found)), "warning"))
}

// A finding is an error or a warning in the output of --json.
type finding struct {
	Severity string `json:"severity"` // error or warning
	Rule     string `json:"rule"`     // error for errors
	File     string `json:"file"`
	Line     int    `json:"line"` // from 1; 0 if unknown
	Column   int    `json:"column"`
	Node     string `json:"node"` // "" for errors, whose message names it
	Message  string `json:"message"`
	Fix      string `json:"fix"` // "" for errors, whose message contains it
}

func findingsIn(found []lint.Warning) []finding {
	all := []finding{}
	for _, w := range found {
		all = append(all, finding{"warning", w.Rule, w.At.File, w.At.Line, w.At.Column, w.Node, w.What, w.Fix})
	}
	return all
}

func findingsOf(file string, err error) (all []finding) {
	var errs flow.Errors
	if !errors.As(err, &errs) {
		return []finding{{Severity: "error", Rule: "error", File: file, Message: display.Error(err)}}
	}
	for _, e := range errs {
		all = append(all, finding{Severity: "error", Rule: "error", File: e.File, Line: e.Line, Column: e.Column, Message: e.Msg})
	}
	return all
}
