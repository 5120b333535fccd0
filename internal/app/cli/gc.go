package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/store"
)

type gcFlags struct {
	maxSize   string
	olderThan string
	nodes     []string
	pinned    bool
	dryRun    bool
}

func (a *app) gcCommand() *cobra.Command {
	var f gcFlags
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove old records, and shrink the cache to its size limit",
		Long: `Removes records that were not used for long, and records over the size of the cache.

It works in three steps. First it releases manifests whose flow file or checkpoint is
gone, so that their records are no longer pinned. Then it removes the records of
the given nodes and those older than the given age (with both flags, the old
records of these nodes). Last it removes records until the cache has --max-size, by default
its own size limit. It begins with records that are cheap to compute for their size
and were not used for long. Pinned records stay.`,
		Args: words(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.gc(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.maxSize, "max-size", "", "`size` of the cache afterwards, such as 10GiB")
	c.Flags().StringVar(&f.olderThan, "older-than", "", "remove records that were not used for this `time`, such as 30d, 2w or 12h")
	c.Flags().StringArrayVar(&f.nodes, "node", nil, "remove the records of this `node` (an operation, as larder ls lists it); may be repeated")
	c.Flags().BoolVar(&f.pinned, "pinned", false, "remove pinned records too")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be removed, and remove nothing")
	return c
}

func (a *app) gc(ctx context.Context, f gcFlags) error {
	w := inventory.Waste{Pinned: f.pinned, DryRun: f.dryRun, Pins: pins}
	if f.maxSize != "" {
		n, err := display.ParseSize(f.maxSize)
		if err != nil || n == 0 {
			return usageError{fmt.Errorf("--max-size %q: must be a size such as 10GiB; larder clear --all removes everything", f.maxSize)}
		}
		w.MaxBytes = n
	}
	if f.olderThan != "" {
		var err error
		if w.OlderThan, err = parseAge(f.olderThan); err != nil {
			return usageError{fmt.Errorf("--older-than %q: %w", f.olderThan, err)}
		}
	}
	return a.existing(f.dryRun, func(s store.Store) error {
		if s == nil {
			return missing(f.nodes)
		}
		var err error
		if w.Nodes, err = inventory.SelectNodes(ctx, s, f.nodes...); err != nil {
			return inventoryError(err)
		}
		removed, err := inventory.Collect(ctx, s, w)
		if err != nil {
			return inventoryError(err)
		}
		for _, name := range removed.Manifests {
			fmt.Fprintf(a.stderr, "%s: %s, because its flow file or checkpoint is gone\n", printable(name), ifElse(f.dryRun, "would be released", "released"))
		}
		writeRemoved(a.stderr, removed, f.dryRun)
		return nil
	})
}

// pins reports whether a node of a flow file pins anything. A file that cannot
// be read counts as pinning, because the error may be temporary.
func pins(file, node string) bool {
	f, err := (&app{}).parse(file, variables{})
	return err != nil || f.Pins(node)
}

// missing returns the error for names when there is no cache.
func missing(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return usageError{&inventory.UnknownError{Name: names[0]}}
}

func writeRemoved(w io.Writer, r inventory.Removed, dry bool) {
	for _, n := range r.Nodes {
		fmt.Fprintf(w, "%s: %s\n", printable(n.Label()), recordsOf(n.Records+n.Links, n.Bytes))
	}
	records, pinned, bytes := r.Records()
	if dry {
		fmt.Fprintf(w, "%s%s would be removed, about %s freed on disk; nothing was removed\n",
			recordsOf(records, bytes), pinnedOf(pinned), bytesOf(r.Freed))
		return
	}
	rest := ""
	if r.Freed < bytes {
		rest = " now, the rest when the files are rewritten that other records share"
	}
	fmt.Fprintf(w, "%s%s removed, %s freed on disk%s\n", recordsOf(records, bytes), pinnedOf(pinned), bytesOf(r.Freed), rest)
}

func pinnedOf(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them pinned,", n)
}

// parseAge parses a duration in days (30d), weeks (2w), or in the format of Go
// (12h).
func parseAge(text string) (time.Duration, error) {
	errAge := errors.New("must be a time such as 30d, 2w or 12h")
	day := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[text[len(text)-1]]
	if day == 0 {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, errAge
		}
		return d, nil
	}
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 32)
	if err != nil || n <= 0 || n > int64(1<<63-1)/int64(day) {
		return 0, errAge
	}
	return time.Duration(n) * day, nil
}
