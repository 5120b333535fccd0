package flow

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

// A Report says what a run did. Scripts read its JSON form.
type Report struct {
	Version int          `json:"version"` // 1
	Flow    string       `json:"flow"`
	Status  Status       `json:"status"`
	Error   string       `json:"error"`
	Seconds float64      `json:"seconds"`
	Cache   string       `json:"cache"` // the cache directory; "" if there is none
	Nodes   []NodeReport `json:"nodes"`
	// Shard is the shard that was computed, such as 3/16.
	Shard string `json:"shard,omitempty"`
	// Waits is the stage that was not begun because other shards have not completed the
	// stages before it.
	Waits int `json:"waits_for_stage,omitempty"`
	// Skips are the skipped samples, in the order of nodes and samples.
	Skips []Skip `json:"skips,omitempty"`
}

// A Status is how a run ended.
type Status string

// The statuses of a run.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
)

// A NodeReport says what happened at one node.
type NodeReport struct {
	Name      string         `json:"name"`
	Kind      component.Kind `json:"kind"`
	Component string         `json:"component"`
	// Samples is the number of samples that the node outputs; for a sink,
	// reads.
	Samples int64 `json:"samples"`
	// Computed counts executions of the node's own function: one for each
	// sample that was not found, and more where an uncached sample is read
	// again. FromMemory and FromStore count the samples returned from there
	// without an execution, each once, so neither exceeds Samples. A sample
	// that was computed or found in the store, and later read from memory,
	// counts in both.
	Computed   int64 `json:"computed"`
	FromMemory int64 `json:"from_memory"`
	FromStore  int64 `json:"from_store"`
	// MemoryReads and StoreReads count how often samples were returned from
	// there, including repeated reads.
	MemoryReads int64 `json:"memory_reads"`
	StoreReads  int64 `json:"store_reads"`
	Failed      int64 `json:"failed"`
	// Skipped is the number of samples that the node leaves out because it
	// could not compute them.
	Skipped      int64   `json:"skipped,omitempty"`
	Seconds      float64 `json:"seconds"`       // in the node's own function, over all workers
	SecondsSaved float64 `json:"seconds_saved"` // computing time that hits saved
	BytesRead    int64   `json:"bytes_read"`    // encoded, from the store
	BytesWritten int64   `json:"bytes_written"` // encoded, to the store or by a sink
	// Unchanged says that a sink was up to date, or that only such sinks read a
	// node. No sample was read, and FromStore counts the results that are still
	// valid.
	Unchanged bool `json:"unchanged,omitempty"`
	// Reused counts the samples of a sink that were not read, because their
	// output was reused. The nodes upstream count the results that these depend on
	// as FromStore.
	Reused int64 `json:"reused,omitempty"`
	// Cache says how the samples in the node's memory cache were chosen.
	Cache *CacheReport `json:"cache,omitempty"`
	// Decision is the decision on checkpoint: auto and on an auto cache, with
	// its reason.
	Decision string `json:"decision,omitempty"`
}

// A CacheReport says how the samples in a memory cache were chosen.
type CacheReport struct {
	Policy string `json:"policy"`
	// KnownOrders counts the passes over the node's samples whose order was
	// known beforehand, so that the cache held what is read again soonest.
	// UnknownOrders counts the other passes.
	KnownOrders   int `json:"known_orders"`
	UnknownOrders int `json:"unknown_orders"`
}

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// add adds the counts of a later part of the work; r may be nil.
func (r *Report) add(more *Report) *Report {
	if r == nil {
		return more
	}
	for i := range more.Nodes {
		n := &more.Nodes[i]
		if at := slices.IndexFunc(r.Nodes, func(o NodeReport) bool { return o.Name == n.Name }); at >= 0 {
			n.add(&r.Nodes[at])
			r.Nodes = slices.Delete(r.Nodes, at, at+1)
		}
	}
	more.Nodes = append(r.Nodes, more.Nodes...)
	more.Skips = append(r.Skips, more.Skips...)
	return more
}

func (n *NodeReport) add(o *NodeReport) {
	n.Samples = max(n.Samples, o.Samples)
	n.Computed += o.Computed
	n.FromMemory += o.FromMemory
	n.FromStore += o.FromStore
	n.MemoryReads += o.MemoryReads
	n.StoreReads += o.StoreReads
	n.Failed += o.Failed
	n.Skipped += o.Skipped
	n.Seconds += o.Seconds
	n.SecondsSaved += o.SecondsSaved
	n.BytesRead += o.BytesRead
	n.BytesWritten += o.BytesWritten
}

func (r *run) report(ctx context.Context, err error, took time.Duration) *Report {
	rep := &Report{Version: 1, Flow: r.Name, Status: OK, Seconds: took.Seconds()}
	if r.Larder != nil {
		rep.Cache = r.Larder.Dir()
	}
	if err != nil {
		rep.Status, rep.Error = Failed, display.Error(err)
		if ctx.Err() != nil {
			rep.Status = Interrupted
		}
	}
	for _, n := range r.Nodes {
		if s := r.state(n.Name); s != nil {
			rep.Nodes = append(rep.Nodes, s.report())
			rep.Skips = append(rep.Skips, s.skipped...)
		}
	}
	return rep
}

func (s *state) report() NodeReport {
	t := &s.stats
	seconds := s.spent
	if s.Component.Kind == component.Map || s.Component.Maps {
		seconds = t.Spent()
	}
	return NodeReport{
		Name: s.Name, Kind: s.Component.Kind, Component: s.Component.Name, Samples: s.samples + s.passed.Load(),
		Computed: t.Computed.Load(), FromMemory: t.FromMemory.Load(), FromStore: t.FromStore.Load(), MemoryReads: t.MemoryReads(), StoreReads: t.StoreReads(),
		Failed: t.Failed.Load(), Skipped: int64(len(s.skipped)),
		Seconds: seconds.Seconds(), SecondsSaved: t.Saved().Seconds(),
		BytesRead: t.BytesRead.Load(), BytesWritten: t.BytesWritten.Load(),
		Unchanged: s.unchanged, Reused: s.copied, Cache: s.cacheReport(), Decision: s.decision,
	}
}
