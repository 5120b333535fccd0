package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/store"
)

type lsFlags struct {
	records bool
	sort    string
	json    bool
}

func (a *app) lsCommand() *cobra.Command {
	var f lsFlags
	c := &cobra.Command{
		Use:   "ls [PREFIX|NODE]...",
		Short: "List the cache, by node or by record",
		Long: `Lists what the cache holds.

A NODE is the name of an operation, such as image-stats; its records are its
results. The part after the name (a function, a command, an expression)
distinguishes operations of one name; quote both to select one of them. A PREFIX
is the beginning of the key of a record. COST is the time that computing the
records took. A link says that the result of one key is cached under another key.`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.ls(c.Context(), args, f)
		},
	}
	c.Flags().BoolVar(&f.records, "records", false, "list each record")
	c.Flags().StringVar(&f.sort, "sort", "name", "order: name; size or cost, largest first; age, oldest first; used, longest unused first")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (a *app) ls(ctx context.Context, names []string, f lsFlags) error {
	if _, ok := nodeOrders[f.sort]; !ok {
		return usageError{fmt.Errorf("--sort %s: must be size, age, used, cost or name", f.sort)}
	}
	return a.existing(true, func(s store.Store) error {
		if s == nil && len(names) > 0 {
			return usageError{&inventory.UnknownError{Name: names[0]}}
		}
		var sel inventory.Selection
		if s != nil {
			var err error
			if sel, err = inventory.Select(ctx, s, names...); err != nil {
				return inventoryError(err)
			}
		}
		if f.records {
			return a.lsRecords(ctx, s, sel, f)
		}
		return a.lsNodes(ctx, s, sel, f)
	})
}

func (a *app) lsNodes(ctx context.Context, s store.Store, sel inventory.Selection, f lsFlags) error {
	list := []inventory.Node{}
	if s != nil {
		var err error
		if list, err = inventory.Nodes(ctx, s, sel); err != nil {
			return inventoryError(err)
		}
	}
	if order := nodeOrders[f.sort]; order != nil {
		slices.SortStableFunc(list, order)
	}
	if f.json {
		return writeJSON(a.stdout, nodesJSON(list))
	}
	if s == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, n := range list {
		seen[n.Name] = true
	}
	explainBookkeeping(a.stderr, seen)
	return writeNodes(a.stdout, list)
}

func (a *app) lsRecords(ctx context.Context, s store.Store, sel inventory.Selection, f lsFlags) error {
	list := []inventory.Record{}
	seen := map[string]bool{}
	if s != nil {
		for r, err := range inventory.Records(ctx, s, sel) {
			if err != nil {
				return inventoryError(err)
			}
			list = append(list, r)
			seen[r.Node] = true
		}
	}
	slices.SortFunc(list, recordOrders[f.sort])
	if f.json {
		return writeJSON(a.stdout, recordsJSON(list))
	}
	if s == nil {
		return nil
	}
	explainBookkeeping(a.stderr, seen)
	return writeRecords(a.stdout, list)
}

// nodeOrders are the possible orders of nodes; nil is the default order.
var nodeOrders = map[string]func(a, b inventory.Node) int{
	"name": nil,
	"size": func(a, b inventory.Node) int { return cmp.Compare(b.Bytes, a.Bytes) },
	"cost": func(a, b inventory.Node) int { return cmp.Compare(b.Cost, a.Cost) },
	"age":  func(a, b inventory.Node) int { return a.Oldest.Compare(b.Oldest) },
	"used": func(a, b inventory.Node) int { return a.Used.Compare(b.Used) },
}

// recordOrders are the possible orders of records; equal records are sorted by
// key.
var recordOrders = map[string]func(a, b inventory.Record) int{
	"name": byNode,
	"size": func(a, b inventory.Record) int { return cmp.Or(cmp.Compare(b.Size, a.Size), byNode(a, b)) },
	"cost": func(a, b inventory.Record) int { return cmp.Or(cmp.Compare(b.Cost, a.Cost), byNode(a, b)) },
	"age":  func(a, b inventory.Record) int { return cmp.Or(a.Created.Compare(b.Created), byNode(a, b)) },
	"used": func(a, b inventory.Record) int { return cmp.Or(a.Used.Compare(b.Used), byNode(a, b)) },
}

func byNode(a, b inventory.Record) int {
	return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Detail, b.Detail), slices.Compare(a.Key[:], b.Key[:]))
}

func writeNodes(w io.Writer, list []inventory.Node) error {
	now := time.Now()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "node\trecords\tlinks\tpinned\tbytes\tcost\toldest\tnewest\tlast used\t")
	for _, n := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", printable(n.Label()), count(n.Records), count(n.Links), count(n.Pinned),
			size(n.Bytes), secondsOrDot(n.Cost.Seconds()), ago(now, n.Oldest), ago(now, n.Newest), ago(now, n.Used))
	}
	return written(t.Flush())
}

func writeRecords(w io.Writer, list []inventory.Record) error {
	now := time.Now()
	b := bufio.NewWriter(w)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "key\tnode\tsize\tcost\tage\tlast used\tnotes\t")
	for _, r := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", inventory.Short(r.Key), printable(r.Label()),
			size(r.Size), secondsOrDot(r.Cost.Seconds()), ago(now, r.Created), ago(now, r.Used), notes(r))
	}
	if err := t.Flush(); err != nil {
		return failure{err}
	}
	return written(b.Flush())
}

// notes lists special properties of a record.
func notes(r inventory.Record) string {
	var list []string
	if r.Kind == inventory.Link {
		list = append(list, "link to "+inventory.Short(r.Link))
	}
	if r.Pinned {
		list = append(list, "pinned")
	}
	if list == nil {
		return "."
	}
	return strings.Join(list, ", ")
}

type nodeJSON struct {
	Node    string    `json:"node"`
	Detail  string    `json:"detail,omitempty"`
	Records int64     `json:"records"`
	Links   int64     `json:"links"`
	Pinned  int64     `json:"pinned"`
	Bytes   int64     `json:"bytes"`
	Cost    float64   `json:"cost_seconds"`
	Oldest  time.Time `json:"oldest"`
	Newest  time.Time `json:"newest"`
	Used    time.Time `json:"used"`
}

func nodesJSON(list []inventory.Node) []nodeJSON {
	out := make([]nodeJSON, len(list))
	for i, n := range list {
		out[i] = nodeJSON{n.Name, n.Detail, n.Records, n.Links, n.Pinned, n.Bytes, n.Cost.Seconds(), n.Oldest.UTC(), n.Newest.UTC(), n.Used.UTC()}
	}
	return out
}

type recordJSON struct {
	Key     string    `json:"key"`
	Node    string    `json:"node"`
	Detail  string    `json:"detail,omitempty"`
	Kind    string    `json:"kind"`
	Link    string    `json:"link,omitempty"`
	Type    string    `json:"type"`
	Size    int64     `json:"size"`
	Cost    float64   `json:"cost_seconds"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	Pinned  bool      `json:"pinned"`
}

func recordsJSON(list []inventory.Record) []recordJSON {
	out := make([]recordJSON, len(list))
	for i, r := range list {
		out[i] = newRecordJSON(r)
	}
	return out
}

func newRecordJSON(r inventory.Record) recordJSON {
	j := recordJSON{
		Key: r.Key.String(), Node: r.Node, Detail: r.Detail, Kind: string(r.Kind), Type: fmt.Sprintf("%016x", r.Type), Size: r.Size,
		Cost: r.Cost.Seconds(), Created: r.Created.UTC(), Used: r.Used.UTC(), Pinned: r.Pinned,
	}
	if !r.Link.IsZero() {
		j.Link = r.Link.String()
	}
	return j
}
