package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/inventory"
	"github.com/larder-data/larder/store"
)

// inventoryCommands are the commands about what the cache holds.
func (a *app) inventoryCommands() []*cobra.Command {
	return []*cobra.Command{a.lsCommand(), a.showCommand(), a.statsCommand(), a.gcCommand(), a.clearCommand(), a.exportCommand(), a.importCommand()}
}

// existing hands the store of a cache folder to f, and closes it. Where there
// is no folder, it says so to people, makes none, and calls f with nil.
func (a *app) existing(readOnly bool, f func(store.Store) error) error {
	dir, size, err := a.folder()
	if err != nil {
		return usageError{err}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(a.stderr, "larder: there is no cache in %s\n", dir)
		return f(nil)
	case err != nil:
		return failure{err}
	case !info.IsDir():
		return usageError{fmt.Errorf("cache %s: not a folder", dir)}
	}
	l, err := larder.Open(larder.Options{Dir: dir, MaxBytes: size, MemoryBytes: -1, ReadOnly: readOnly, Logger: a.logger()})
	if err != nil {
		return failure{err}
	}
	err = f(l.Store())
	if cerr := l.Close(); cerr != nil {
		return failure{errors.Join(err, cerr)}
	}
	return err
}

// folder is the cache folder and its bound.
func (a *app) folder() (dir string, size int64, err error) {
	if size, err = a.maxBytes(); err != nil {
		return "", 0, err
	}
	if a.cache != "" {
		return a.cache, size, nil
	}
	dir, err = larder.DefaultDir()
	return dir, size, err
}

// inventoryError tells wrong names from work that failed.
func inventoryError(err error) error {
	if err == nil {
		return nil
	}
	var unknown *inventory.UnknownError
	var ambiguous *inventory.AmbiguousError
	switch {
	case errors.As(err, &unknown):
		return usageError{fmt.Errorf("%w%s", err, component.Suggest(unknown.Name, unknown.Nodes))}
	case errors.As(err, &ambiguous):
		return usageError{err}
	}
	return failure{err}
}

// writeJSON writes v for machines.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return failure{err}
	}
	return nil
}

// ago shows how long ago t was, in its largest unit.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "."
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return "<1m"
	}
}

// explainBookkeeping says what the nodes are that nobody named.
func explainBookkeeping(w io.Writer, nodes map[string]bool) {
	if nodes[inventory.FileDigestNode] {
		fmt.Fprintf(w, "%s: what files contained, so that those that did not change are not read again\n", inventory.FileDigestNode)
	}
	if nodes[inventory.UnexplainedNode] {
		fmt.Fprintf(w, "%s: results kept without a note of what made them\n", inventory.UnexplainedNode)
	}
}
