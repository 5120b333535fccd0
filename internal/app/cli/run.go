package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/pool"
)

type runFlags struct {
	set      variables
	from     flowFile
	only     []string
	workers  int
	report   string
	events   string
	progress string
	traces   string
	dryRun   bool
	discard  bool
	json     bool
	watch    bool
	onError  string
	skips    string
	summary  string
	logs     string
	endWith  int
	shard    string
	stage    int
	stdin    *component.Input // nil where sources must not read it
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FLOW",
		Short: "Run the sinks and checkpoints of a flow",
		Args:  words(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("end-with") {
				if err := endWith(f.endWith); err != nil {
					return err
				}
			}
			if err := f.checkShard(); err != nil {
				return usageError{err}
			}
			if f.watch {
				return a.watch(c.Context(), args[0], f)
			}
			return a.run(c.Context(), args[0], f)
		},
	}
	f.set.flags(c)
	f.from.flags(c)
	c.Flags().StringArrayVar(&f.only, "only", nil, "run this `node`, or NODE.OUTPUT for one of several outputs, and its dependencies; may be repeated")
	c.Flags().IntVar(&f.workers, "workers", 0, "concurrent samples (default: the number of processors)")
	c.Flags().StringVar(&f.report, "report", "", "write the report as JSON to `file` (- for stdout)")
	c.Flags().StringVar(&f.events, "events", "", "append events as JSON lines to `file`")
	c.Flags().StringVar(&f.traces, "trace-orders", "", "record the order of reads of each node in this `directory`, for larder simulate")
	c.Flags().StringVar(&f.progress, "progress", "auto", "auto, full, plain or none: bars on a terminal and lines elsewhere; the whole terminal; lines; nothing")
	c.Flags().BoolVar(&f.discard, "discard-checkpoints", false, "unpin the checkpoints after a successful run, so that they can be evicted")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be computed and why, and compute nothing")
	c.Flags().BoolVar(&f.json, "json", false, "with --dry-run: print JSON on stdout")
	c.Flags().IntVar(&f.endWith, "end-with", 0, "stop, as after Ctrl-C, when the inherited pipe with this file descriptor `number` is closed")
	c.Flags().StringVar(&f.shard, "shard", "", "compute and cache shard `I/N`, such as 3/16, of the results, and write no sink; a run without --shard then finds them (see larder ranges)")
	c.Flags().IntVar(&f.stage, "stage", 0, "with --shard: compute this `stage` (default: each stage whose earlier stages are complete)")
	f.onErrorFlags(c)
	c.Flags().BoolVar(&f.watch, "watch", false, "run again after each change of the flow file or of files that it reads, until interrupted; the exit status is that of the last run")
	return c
}

// checkShard refuses flags that a shard cannot have.
func (f *runFlags) checkShard() error {
	switch {
	case f.shard == "" && f.stage != 0:
		return errors.New("--stage needs --shard")
	case f.shard == "":
		return nil
	case f.watch || f.dryRun || f.discard || f.traces != "":
		return errors.New("--shard cannot be combined with --watch, --dry-run, --discard-checkpoints or --trace-orders; leave one out")
	}
	_, err := flow.ParseShard(f.shard)
	if err != nil {
		return fmt.Errorf("--shard %w", err)
	}
	return nil
}

// onErrorFlags adds the flags for samples that cannot be computed.
func (f *runFlags) onErrorFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.onError, "on-error", "fail", "what to do with samples that cannot be computed, unless the node sets on-error: fail, skip, or skip at most `N` or P% of the samples of a node")
	c.Flags().StringVar(&f.logs, "logs", "", "write the stderr of exec commands to this `directory`, as NODE/SAMPLE.log")
	c.Flags().StringVar(&f.summary, "summary", "", "write the closing table to `file`: .csv, .json or .md")
	c.Flags().StringVar(&f.skips, "skips", "", "write skipped samples to `file` as JSON lines (- for stdout)")
}

func (a *app) run(ctx context.Context, file string, f runFlags) error {
	fl, err := f.from.parse(a, file, f.set)
	if err != nil {
		return err
	}
	if file != "-" {
		f.stdin = &component.Input{Reader: os.Stdin}
	}
	return a.runFlow(ctx, fl, f)
}

// runFlow runs a flow with the flags, and shows its progress.
func (a *app) runFlow(ctx context.Context, fl *flow.Flow, f runFlags) (err error) {
	if f.workers < 0 {
		return usageError{fmt.Errorf("--workers %d: must not be negative", f.workers)}
	}
	onError, err := flow.ParseOnError(f.onError)
	if err != nil {
		return usageError{fmt.Errorf("--on-error %w", err)}
	}
	if f.events == "-" {
		return usageError{errors.New("--events -: name a file; standard output is /dev/stdout here")}
	}
	if f.dryRun {
		f.progress, f.events, f.report, f.traces, f.skips, f.logs, f.summary = "none", "", "", "", "", "", ""
	}
	if f.summary != "" {
		if _, err := summaryOf(f.summary); err != nil {
			return usageError{err}
		}
	}
	if f.logs != "" {
		if f.logs, err = filepath.Abs(f.logs); err != nil {
			return usageError{fmt.Errorf("--logs: %w", err)}
		}
	}
	reads, err := a.protectRun(ctx, fl, f)
	if err != nil {
		return err
	}
	d, err := newDisplay(ctx, f.progress, a.stderr, newTracker(fl, f.only, a.shownDir(), time.Now()))
	if err != nil {
		return usageError{err}
	}
	defer d.close()
	events, err := openEvents(f.events)
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, events.close()) }()
	shown := *a
	shown.stderr, shown.warned, shown.passes = d.log(), events.observe, true
	return shown.withLarder(larder.Options{}, func(l *larder.Larder) error {
		o := flow.RunOptions{Larder: l, Reads: reads, Pool: pool.New(f.workers), Only: f.only, Discard: f.discard, OnError: onError, Logs: f.logs, Log: shown.logger(), Stdin: f.stdin,
			Observers: []func(flow.Event){d.observe, events.observe}}
		if f.dryRun {
			return a.plan(ctx, fl, o, f.json)
		}
		return a.runIn(ctx, fl, o, f, d)
	})
}

// protectRun lists the inputs of a run, and refuses a run that would overwrite
// any of them.
func (a *app) protectRun(ctx context.Context, fl *flow.Flow, f runFlags) (*pathguard.Inputs, error) {
	in, err := a.reading(ctx, fl, f.set)
	if err != nil {
		return nil, err
	}
	sinks, err := fl.Outputs(f.only...)
	if err != nil {
		return nil, usageError{err}
	}
	if f.shard != "" {
		sinks = nil
	}
	files := []pathguard.Output{
		{Owner: "--report", Path: f.report},
		{Owner: "--skips", Path: f.skips},
		{Owner: "--summary", Path: f.summary},
		{Owner: "--logs", Path: f.logs, Files: true},
		{Owner: "--trace-orders", Path: f.traces, Files: true},
	}
	events := pathguard.Output{Owner: "--events", Path: f.events} // which is opened before the run
	if err := protect(ctx, in, sinks, append(files, events)...); err != nil {
		return nil, err
	}
	made := append(slices.Clone(sinks), files[len(files)-2:]...) // and the directories of files
	return in, checkWritable(made, append(files, printing(fl)...)...)
}

// printing lists the outputs that a flow writes to standard output.
func printing(fl *flow.Flow) (all []pathguard.Output) {
	for _, n := range fl.Nodes {
		if sinks, ok := n.Params.(manySinks); ok {
			for _, o := range sinks.list {
				if o.stdout {
					all = append(all, pathguard.Output{Owner: o.flag, Path: "-"})
				}
			}
		}
	}
	return all
}

// runIn runs a flow in an open cache, and writes the outputs that the flags
// request.
func (a *app) runIn(ctx context.Context, fl *flow.Flow, o flow.RunOptions, f runFlags, d progressDisplay) (err error) {
	traces, err := openTraces(f.traces, func(path string) error {
		return o.Reads.Check(ctx, pathguard.Output{Owner: "--trace-orders", Path: path, Itself: true})
	})
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, traces.close()) }()
	o.Trace = traces.trace()
	report, runErr := runShard(ctx, fl, o, f)
	d.close()
	if report == nil {
		return usageError{runErr}
	}
	if f.progress != "none" {
		writeTable(a.stderr, report)
	}
	if f.skips != "" {
		if err := a.writeTo(f.skips, report.WriteSkips); err != nil {
			return failure{errors.Join(runErr, fmt.Errorf("--skips: %w", err))}
		}
	}
	if f.summary != "" {
		write, err := summaryOf(f.summary)
		if err == nil {
			err = a.writeTo(f.summary, func(w io.Writer) error { return write(w, report) })
		}
		if err != nil {
			return failure{errors.Join(runErr, fmt.Errorf("--summary: %w", err))}
		}
	}
	if err := a.writeReport(f.report, report); err != nil {
		return failure{errors.Join(runErr, err)}
	}
	if errors.As(runErr, new(usageError)) {
		return runErr
	}
	if isRefused(runErr) {
		return usageError{runErr}
	}
	if runErr != nil {
		return failure{runErr}
	}
	return nil
}

// runShard runs a flow, or one shard of it.
func runShard(ctx context.Context, fl *flow.Flow, o flow.RunOptions, f runFlags) (*flow.Report, error) {
	if f.shard == "" {
		return fl.Run(ctx, o)
	}
	shard, err := flow.ParseShard(f.shard)
	if err != nil {
		return nil, err
	}
	return fl.RunShard(ctx, o, shard, f.stage)
}

// isRefused reports whether an error refuses a forbidden output, or a missing
// input.
func isRefused(err error) bool {
	return errors.Is(err, flow.ErrRequest) || errors.Is(err, pathguard.ErrConflict) || errors.Is(err, pathguard.ErrSpecial)
}

func (a *app) plan(ctx context.Context, fl *flow.Flow, o flow.RunOptions, asJSON bool) error {
	plan, err := fl.Plan(ctx, o)
	if err != nil {
		return flowError(err)
	}
	if !asJSON {
		writePlan(a.stderr, plan)
		return nil
	}
	return writeJSON(a.stdout, plan)
}

func (a *app) writeReport(file string, r *flow.Report) error {
	if file == "" {
		return nil
	}
	if err := a.writeTo(file, r.WriteJSON); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
