package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// watch runs a flow, and again whenever its file or anything that it reads has
// changed, until it is interrupted. Between two runs that is how it ends: the
// status is then that of the last run.
func (a *app) watch(ctx context.Context, file string, f runFlags) error {
	if file == "-" {
		return usageError{errors.New("--watch: a flow on standard input cannot be watched; name a file")}
	}
	if _, err := os.Stat(file); err != nil {
		return usageError{err}
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return usageError{err}
	}
	say := func(format string, args ...any) {
		if f.progress != "none" {
			fmt.Fprintf(a.stderr, format+"\n", args...)
		}
	}
	reads := []string{path}
	for {
		// A watcher is for one run: what is there now may be another folder of
		// the same name than the last time. It looks before the run does, so
		// that what changes meanwhile leads to another run.
		w, err := newWatcher()
		if err != nil {
			return failure{fmt.Errorf("--watch: %w", err)}
		}
		var runErr error
		reads, runErr = a.runWatched(ctx, w, file, reads, f)
		if ctx.Err() != nil || reads == nil {
			w.close()
			return runErr
		}
		if runErr != nil {
			fmt.Fprintln(a.stderr, "larder:", urlpath.Hide(runErr.Error()))
		}
		if err := w.problem(); err != nil {
			fmt.Fprintln(a.stderr, "larder: some changes will not be seen:", urlpath.Hide(err.Error()))
		}
		say("watching %s and %d %s that it reads; Ctrl-C ends it", printable(filepath.Base(file)), len(reads)-1, plural(int64(len(reads)-1), "path"))
		again := w.wait(ctx)
		changes := w.changes(filepath.Dir(path))
		w.close()
		if !again {
			return asReported(runErr)
		}
		say("changed: %s", changes)
	}
}

// runWatched runs the flow once, and returns what is to be watched after that,
// the flow file first: nothing if there is no point in another try. before is
// what was watched the last time.
func (a *app) runWatched(ctx context.Context, w *watcher, file string, before []string, f runFlags) ([]string, error) {
	near := filepath.Dir(before[0]) // what is wrong may be mended by any file beside the flow
	w.look(before, nil, near, nil)
	fl, err := a.parse(file, f.set)
	if errs := (flow.Errors)(nil); errors.As(err, &errs) {
		for _, e := range errs {
			if abs, err := filepath.Abs(e.File); err == nil && !slices.Contains(before, abs) {
				before = append(before, abs)
			}
		}
	}
	if err != nil {
		w.look(before, nil, near, nil)
		return before, err
	}
	reads, may := slices.Clone(fl.Files), []string(nil)
	own := []string{a.shownFolder(), f.events, f.report, f.skips, f.summary, f.traces, f.logs}
	picks := map[string][]func(string) bool{}
	for _, n := range fl.Nodes {
		t := touchesOf(fl, n)
		for _, path := range t.reads {
			picks[path] = append(picks[path], n.Component.Picks(n.Params))
		}
		reads, may, own = append(reads, t.reads...), append(may, t.may...), append(own, t.writes...)
	}
	slices.Sort(reads[1:])
	reads = slices.Compact(reads)
	w.look(slices.Concat(reads, may), own, "", picks)
	err = a.runFlow(ctx, fl, f)
	if errors.As(err, new(usageError)) && !errors.Is(err, flow.ErrRequest) && !isRefused(err) {
		return nil, err // the command line is wrong, not the flow
	}
	return reads, err
}

// asReported is an error with the exit status of err, which has been told.
func asReported(err error) error {
	switch {
	case err == nil:
		return nil
	case status(err) == exitFailed:
		return failure{errReported}
	}
	return usageError{errReported}
}
