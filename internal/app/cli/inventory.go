package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/store"
)

// inventoryCommands returns the commands about the content of the cache.
func (a *app) inventoryCommands() []*cobra.Command {
	return []*cobra.Command{a.lsCommand(), a.showCommand(), a.statsCommand(), a.gcCommand(), a.clearCommand(), a.exportCommand(), a.importCommand()}
}

// existing passes the store of a cache directory to f, and closes it. Without a
// directory, it tells the user, creates none, and calls f with nil.
func (a *app) existing(readOnly bool, f func(store.Store) error) error {
	a.alone = true
	return a.existingWhole(readOnly, func(l *larder.Larder) error {
		if l == nil {
			return f(nil)
		}
		return f(l.Store())
	})
}

// existingWhole is existing including the store that machines share, unless
// that is ignored.
func (a *app) existingWhole(readOnly bool, f func(*larder.Larder) error) error {
	if _, err := a.maxBytes(); err != nil {
		return usageError{err} // an error even without a cache
	}
	dir, err := a.directory()
	if err != nil {
		return usageError{err}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(a.stderr, "larder: no cache in %s\n", dir)
		return f(nil)
	case err != nil:
		return failure{err}
	case !info.IsDir():
		return usageError{fmt.Errorf("cache %s: not a directory", dir)}
	}
	return a.withLarder(larder.Options{MemoryBytes: -1, ReadOnly: readOnly}, f)
}

// inventoryError distinguishes invalid names from failed work.
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

// explainBookkeeping describes the nodes that Larder creates itself.
func explainBookkeeping(w io.Writer, nodes map[string]bool) {
	if nodes[inventory.FileDigestNode] {
		fmt.Fprintf(w, "%s: digests of files, so that unchanged files are not read again\n", inventory.FileDigestNode)
	}
	if nodes[inventory.OperationsNode] {
		fmt.Fprintf(w, "%s: operations, code and parameters of the results, for explanations\n", inventory.OperationsNode)
	}
	if nodes[inventory.UnexplainedNode] {
		fmt.Fprintf(w, "%s: results that do not say what they were computed from\n", inventory.UnexplainedNode)
	}
}
