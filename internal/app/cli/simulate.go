package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/simulate"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

type simulateFlags struct {
	trace       string
	size, items int
	calls       int
	seed        uint64
	policies    []string
	json        bool
	svg         string
}

func (a *app) simulateCommand() *cobra.Command {
	var f simulateFlags
	c := &cobra.Command{
		Use:   "simulate [PATTERN]...",
		Short: "Compute the hit rates of eviction policies",
		Long:  "Computes the hit rates of eviction policies on patterns, or on a recorded trace.\n\nPatterns (default: all):\n" + patternList(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.simulate(c.Context(), c.InOrStdin(), args, f)
		},
	}
	c.Flags().StringVar(&f.trace, "trace", "", "read accesses from `file`, one integer per line (- for stdin)")
	c.Flags().IntVar(&f.size, "size", 5, "capacity of the cache in items")
	c.Flags().IntVar(&f.items, "items", 26, "number of different items")
	c.Flags().IntVar(&f.calls, "calls", 26_000, "number of accesses")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the random patterns")
	c.Flags().StringArrayVar(&f.policies, "policy", []string{"all"}, "`policy` to simulate; may be repeated; all means every one but memo")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().StringVar(&f.svg, "svg", "", "draw a bar chart to `file`")
	return c
}

func patternList() (list string) {
	for _, p := range simulate.Patterns() {
		list += fmt.Sprintf("  %-16s %s\n", p.Name, p.Doc)
	}
	return list
}

func (a *app) simulate(ctx context.Context, stdin io.Reader, patterns []string, f simulateFlags) error {
	in := &pathguard.Inputs{}
	if f.trace != "" && f.trace != "-" {
		in.Add(pathguard.Input{Owner: "--trace", Path: f.trace})
	}
	if err := protectFile(ctx, in, "--svg", f.svg); err != nil {
		return err
	}
	if err := checkWritable(nil, pathguard.Output{Owner: "the table", Path: "-"}, pathguard.Output{Owner: "--svg", Path: f.svg}); err != nil {
		return err
	}
	traces, err := f.traces(stdin, patterns)
	if err != nil {
		return usageError{err}
	}
	var results []simulate.Result
	for _, t := range traces {
		for _, policy := range f.policyNames() {
			r, err := simulate.Run(t.name, policy, f.size, t.accesses)
			if err != nil {
				return usageError{err}
			}
			results = append(results, r)
		}
	}
	if f.svg != "" {
		if err := a.writeTo(f.svg, func(w io.Writer) error { return simulate.WriteChart(w, results) }); err != nil {
			return failure{err}
		}
	}
	if f.json {
		return writeJSON(a.stdout, results)
	}
	return writeHitRates(a.stdout, results)
}

// trace is a sequence of accesses with the name of its pattern or file.
type trace struct {
	name     string
	accesses []int
}

func (f simulateFlags) traces(stdin io.Reader, patterns []string) ([]trace, error) {
	if f.trace != "" {
		if len(patterns) > 0 {
			return nil, errors.New("give either patterns or --trace, not both")
		}
		accesses, err := readTrace(f.trace, stdin)
		if err != nil {
			return nil, fmt.Errorf("trace %s: %w", f.trace, err)
		}
		return []trace{{f.trace, accesses}}, nil
	}
	if len(patterns) == 0 {
		for _, p := range simulate.Patterns() {
			patterns = append(patterns, p.Name)
		}
	}
	var traces []trace
	for _, name := range patterns {
		p, err := simulate.Named(name)
		if err != nil {
			return nil, err
		}
		accesses, err := p.Trace(f.items, f.calls, f.seed)
		if err != nil {
			return nil, err
		}
		traces = append(traces, trace{name, accesses})
	}
	return traces, nil
}

func readTrace(file string, stdin io.Reader) ([]int, error) {
	if file == "-" {
		return simulate.ReadTrace(stdin)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return simulate.ReadTrace(f)
}

// policyNames returns the requested policies. Memo, which never evicts, would
// not be a fair comparison.
func (f simulateFlags) policyNames() (names []string) {
	for _, name := range f.policies {
		if name != "all" {
			names = append(names, name)
			continue
		}
		for _, p := range simulate.Policies() {
			if p != "memo" {
				names = append(names, p)
			}
		}
	}
	return names
}

// writeHitRates writes a table with a line for each pattern and a column for
// each policy, in percent.
func writeHitRates(w io.Writer, results []simulate.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var header, line string
	flush := func() {
		if header != "" {
			fmt.Fprintln(t, header)
		}
		fmt.Fprintln(t, line)
	}
	for i, r := range results {
		if i == 0 || r.Pattern != results[i-1].Pattern {
			if i > 0 {
				flush()
				header = ""
			} else {
				header = "hits, %\t"
			}
			line = r.Pattern + "\t"
		}
		if header != "" {
			header += r.Policy + "\t"
		}
		line += fmt.Sprintf("%.1f\t", 100*r.HitRate)
	}
	if len(results) > 0 {
		flush()
	}
	return written(t.Flush())
}
