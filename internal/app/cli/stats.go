package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/store"
)

func (a *app) statsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "Show the size and cost of cached results",
		Long: `Shows how much the cache holds, by kind, and how long computing it took.

A value is the result of a computation. A link says that the result of one key
is cached under another key. A file digest identifies the content of a file, so
that an unchanged file is not read again. Unexplained records do not say what
they were computed from.`,
		Args: words(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.stats(c.Context(), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) stats(ctx context.Context, asJSON bool) error {
	dir, err := a.directory()
	if err != nil {
		return usageError{err}
	}
	shared, err := a.sharedTotal(ctx)
	if err != nil {
		return err
	}
	return a.existing(true, func(s store.Store) error {
		var t inventory.Total
		if s != nil {
			var err error
			if t, err = inventory.Totals(ctx, s); err != nil {
				return inventoryError(err)
			}
		}
		switch {
		case asJSON:
			return writeJSON(a.stdout, newTotalJSON(dir, t, shared))
		case s == nil:
			return writeShared(a.stdout, shared)
		}
		if err := writeTotal(a.stdout, dir, t); err != nil {
			return err
		}
		return writeShared(a.stdout, shared)
	})
}

func writeTotal(w io.Writer, dir string, t inventory.Total) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\trecords\tbytes\tcost\t")
	all := inventory.KindTotal{Kind: "total"}
	for _, k := range t.Kinds {
		all.Records += k.Records
		all.Bytes += k.Bytes
		all.Cost += k.Cost
	}
	for _, k := range append(t.Kinds, all) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t\n", k.Kind, count(k.Records), size(k.Bytes), secondsOrDot(k.Cost.Seconds()))
	}
	if err := table.Flush(); err != nil {
		return failure{err}
	}
	limit := "without limit"
	if t.Usage.Limit > 0 {
		limit = "of " + size(t.Usage.Limit)
	}
	_, err := fmt.Fprintf(w, "on disk: %s %s; %d %s pinned, %d %s; cache %s\n", bytesOf(t.Usage.Bytes), limit,
		t.Pinned, plural(t.Pinned, "record"), t.Manifests, plural(t.Manifests, "manifest"), dir)
	return written(err)
}

type totalJSON struct {
	Cache     string     `json:"cache"`
	Records   int64      `json:"records"`
	Bytes     int64      `json:"bytes"`
	Limit     int64      `json:"limit"` // 0 for none
	Cost      float64    `json:"cost_seconds"`
	Pinned    int64      `json:"pinned"`
	Manifests int64      `json:"manifests"`
	Kinds     []kindJSON `json:"kinds"`

	Shared *sharedJSON `json:"shared,omitempty"` // of LARDER_STORE
}

type kindJSON struct {
	Kind    string  `json:"kind"`
	Records int64   `json:"records"`
	Bytes   int64   `json:"bytes"` // of payload
	Cost    float64 `json:"cost_seconds"`
}

func newTotalJSON(dir string, t inventory.Total, shared *sharedJSON) totalJSON {
	j := totalJSON{
		Cache: dir, Bytes: t.Usage.Bytes, Limit: t.Usage.Limit,
		Cost: t.Cost.Seconds(), Pinned: t.Pinned, Manifests: t.Manifests, Kinds: []kindJSON{}, Shared: shared,
	}
	for _, k := range t.Kinds {
		j.Records += k.Records
		j.Kinds = append(j.Kinds, kindJSON{string(k.Kind), k.Records, k.Bytes, k.Cost.Seconds()})
	}
	return j
}
