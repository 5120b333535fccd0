package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/store"
)

func (a *app) clearCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "clear NODE... | --all",
		Short: "Remove the records of nodes, even pinned ones",
		Long: `Removes records, even pinned ones. They are computed again when needed.

A NODE is the name of an operation as larder ls lists it, or a node of a flow
as FLOW.yaml#NODE. The latter removes the records that its last run used, and the
manifest that lists them. With LARDER_STORE, their copies on that server are
removed too; its other records stay.`,
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usageError{errors.New("give either nodes or --all")}
			}
			return a.clear(c.Context(), args)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "remove all records and manifests")
	return c
}

func (a *app) clear(ctx context.Context, names []string) error {
	return a.existingWhole(false, func(l *larder.Larder) error {
		if l == nil {
			return missing(names)
		}
		s := l.CombinedStore()
		nodes, manifests, err := clearable(ctx, s, names)
		if err != nil {
			return inventoryError(err)
		}
		var steps []func() (inventory.Removed, error)
		if len(names) == 0 {
			steps = append(steps, func() (inventory.Removed, error) { return inventory.ClearAll(ctx, s) })
		}
		if !nodes.IsAll() {
			steps = append(steps, func() (inventory.Removed, error) { return inventory.Clear(ctx, s, nodes) })
		}
		if len(manifests) > 0 {
			steps = append(steps, func() (inventory.Removed, error) { return inventory.ClearManifests(ctx, s, manifests...) })
		}
		for _, step := range steps {
			removed, err := step()
			if err != nil {
				return inventoryError(err)
			}
			for _, name := range removed.Manifests {
				fmt.Fprintf(a.stderr, "%s: removed\n", printable(name))
			}
			writeRemoved(a.stderr, removed, false)
		}
		return nil
	})
}

// clearable resolves all names before anything is removed.
func clearable(ctx context.Context, s store.Store, names []string) (nodes inventory.Selection, manifests []string, err error) {
	var operations []string
	for _, name := range names {
		_, err := inventory.SelectNodes(ctx, s, name)
		i := strings.LastIndexByte(name, '#')
		if unknown := (*inventory.UnknownError)(nil); errors.As(err, &unknown) && i >= 0 {
			file, err := filepath.Abs(name[:i])
			if err != nil {
				return nodes, nil, usageError{err}
			}
			found, err := inventory.ManifestsOf(ctx, s, file, name[i+1:])
			if err != nil {
				return nodes, nil, err
			}
			manifests = append(manifests, found...)
			continue
		}
		if err != nil {
			return nodes, nil, err
		}
		operations = append(operations, name)
	}
	if len(operations) > 0 {
		nodes, err = inventory.SelectNodes(ctx, s, operations...)
	}
	return nodes, manifests, err
}
