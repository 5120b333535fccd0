package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/display"
)

func writeTable(w io.Writer, r *flow.Report) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "node\tsamples\tcomputed\tfrom memory\tfrom store\ttime\tsaved\tread\twritten\t")
	for _, n := range r.Nodes {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", display.Name(n.Name), n.Samples,
			count(n.Computed), count(n.FromMemory), count(n.FromStore),
			secondsOrDot(n.Seconds), secondsOrDot(n.SecondsSaved), size(n.BytesRead), size(n.BytesWritten))
	}
	t.Flush()
	for _, n := range r.Nodes {
		if n.Unchanged && n.Kind == component.Sink {
			fmt.Fprintf(w, "%s: up to date\n", n.Name)
		}
		if n.Reused > 0 {
			fmt.Fprintf(w, "%s: %d of %d rows reused from the earlier output\n", n.Name, n.Reused, n.Samples)
		}
		if text := rereads(n); text != "" {
			fmt.Fprintf(w, "%s: %s\n", n.Name, text)
		}
		if n.Decision != "" {
			fmt.Fprintf(w, "%s: %s\n", n.Name, n.Decision)
		}
		if c := n.Cache; c != nil && c.KnownOrders+c.UnknownOrders > 0 {
			fmt.Fprintf(w, "%s: cache %s knew the order of %d of %d passes\n", n.Name, c.Policy, c.KnownOrders, c.KnownOrders+c.UnknownOrders)
		}
	}
	writeSkips(w, r.Skips)
	if r.Waits > 0 {
		fmt.Fprintf(w, "stage %d depends on results of other shards; compute it with --stage %d when they are complete\n", r.Waits, r.Waits)
	}
	name := display.Name(r.Flow)
	if r.Shard != "" {
		name += ": shard " + r.Shard
	}
	fmt.Fprintf(w, "%s: %s in %s; cache %s\n", name, r.Status, seconds(r.Seconds), display.Name(r.Cache))
}

// rereads says how often samples from memory or the store were read again; ""
// if none was.
func rereads(n flow.NodeReport) string {
	var all []string
	for _, from := range []struct {
		reads, samples int64
		where          string
	}{{n.MemoryReads, n.FromMemory, "memory"}, {n.StoreReads, n.FromStore, "the store"}} {
		if from.reads > from.samples {
			all = append(all, fmt.Sprintf("%d reads of %d %s from %s", from.reads, from.samples, plural(from.samples, "sample"), from.where))
		}
	}
	return strings.Join(all, ", ")
}

const maxSkips = 10

func writeSkips(w io.Writer, skips []flow.Skip) {
	for _, s := range skips[:min(len(skips), maxSkips)] {
		fmt.Fprintf(w, "%s: sample %d skipped: %s\n", s.Node, s.Sample, printable(s.Error))
	}
	if more := len(skips) - maxSkips; more > 0 {
		fmt.Fprintf(w, "%d more samples skipped; see the report or --skips\n", more)
	}
}

func writePlan(w io.Writer, p *flow.Plan) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "node\tsamples\tcached\tto compute\t")
	var total int64
	more, fewer := false, false
	for _, n := range p.Nodes {
		total += n.Compute
		more = more || n.AtLeast || n.Unknown != ""
		fewer = fewer || n.AtMost && n.Compute > 0
		samples := fmt.Sprint(n.Samples)
		if n.Unknown != "" {
			samples = "?"
		}
		cached, compute := n.AtLeast || n.AtMost && n.Compute > 0, n.AtLeast
		if n.Unknown != "" { // only certain samples are counted
			cached, compute = cached || n.Cached == 0, compute || n.Compute == 0
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", display.Name(n.Name), samples, bounded(n.Cached, cached, false), bounded(n.Compute, compute, n.AtMost))
	}
	t.Flush()
	for _, n := range p.Nodes {
		if n.Unknown != "" {
			fmt.Fprintf(w, "%s: %s\n", n.Name, n.Unknown)
		}
		for _, r := range n.Reasons {
			fmt.Fprintf(w, "%s: %d %s (first: %d): %s\n", n.Name, r.Count, plural(r.Count, "sample"), r.First, r.Text)
		}
	}
	fmt.Fprintf(w, "%s: %s%d %s to compute; nothing was run\n", display.Name(p.Flow), bounds(more, fewer), total, plural(total, "result"))
}

// bounds returns the words before a number that is a lower or an upper bound.
func bounds(more, fewer bool) string {
	switch {
	case more && fewer:
		return "about "
	case more:
		return "at least "
	case fewer:
		return "at most "
	}
	return ""
}

// bounded formats a number of a plan, with a mark if there may be more (+) or
// fewer (-).
func bounded(n int64, more, fewer bool) string {
	switch {
	case n == 0 && more:
		return "?"
	case n == 0 || !more && !fewer:
		return count(n)
	case more && fewer:
		return fmt.Sprintf("%d?", n)
	case more:
		return fmt.Sprintf("%d+?", n)
	}
	return fmt.Sprintf("%d-?", n)
}
