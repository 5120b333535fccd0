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

// watch runs a flow, and again whenever its file or one of its inputs has
// changed. It runs until it is interrupted. If that happens between two runs,
// the status is that of the last run.
func (a *app) watch(ctx context.Context, file string, f runFlags) error {
	if file == "-" {
		return usageError{errors.New("--watch: standard input cannot be watched; name a file")}
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
		// Each run needs a new watcher, because a directory may have been
		// replaced under the same name. It starts before the run, so that
		// changes during the run lead to another one.
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
			fmt.Fprintln(a.stderr, "larder: some files cannot be watched:", urlpath.Hide(err.Error()))
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

// runWatched runs the flow once, and returns the paths to watch afterwards, the
// flow file first. It returns none if another try cannot succeed. before has
// the paths watched the last time.
func (a *app) runWatched(ctx context.Context, w *watcher, file string, before []string, f runFlags) ([]string, error) {
	near := filepath.Dir(before[0]) // a change of any file next to the flow may fix the error
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
	own := []string{a.shownDir(), f.events, f.report, f.skips, f.summary, f.traces, f.logs}
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
		return nil, err // the error is in the command line, not in the flow
	}
	return reads, err
}

// asReported returns an error with the exit status of err, which was already
// shown.
func asReported(err error) error {
	switch {
	case err == nil:
		return nil
	case status(err) == exitFailed:
		return failure{errReported}
	}
	return usageError{errReported}
}
