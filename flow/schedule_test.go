package flow_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"
)

// meet is a mapper of two nodes. Its samples wait until a sample of each node is in flight.
type meet struct {
	Side int `param:"side"`
}

// meeting belongs to one run. A sample in flight at the end of a run may still use the one
// before.
type meeting struct {
	came      [2]chan struct{} // closed when a side has arrived
	first     [2]atomic.Bool
	now, most atomic.Int64 // samples in flight
	fail      bool         // side 0 fails once both have arrived
}

var current atomic.Pointer[meeting]

func init() {
	component.RegisterMapper("meet", "Waits for its like, for tests.", func(_ *component.Env, p meet) (dataset.Mapper, error) {
		return dataset.NewTransform(dataset.TransformFunc{
			Name: "meet", Code: key.Version("1"), In: []string{"metadata"}, Out: []string{"met"},
			Params: []key.Param{{Name: "side", Value: p.Side}},
			Func:   func(ctx context.Context, _ dataset.Sample) (dataset.Sample, error) { return p.wait(ctx) },
		})
	})
}

func (m meet) wait(ctx context.Context) (dataset.Sample, error) {
	at := current.Load()
	now := at.now.Add(1)
	defer at.now.Add(-1)
	for most := at.most.Load(); now > most && !at.most.CompareAndSwap(most, now); most = at.most.Load() {
	}
	at.come(m.Side)
	select {
	case <-at.came[1-m.Side]:
	case <-ctx.Done():
		return dataset.Sample{}, context.Cause(ctx)
	}
	if at.fail && m.Side == 0 {
		return dataset.Sample{}, errors.New("no good")
	}
	return dataset.NewSample(dataset.Field{Key: "met", Item: dataset.NewItem("txt", "well")}), nil
}

func (at *meeting) come(side int) {
	if at.first[side].CompareAndSwap(false, true) {
		close(at.came[side])
	}
}

func newMeeting(fail bool) *meeting {
	at := &meeting{came: [2]chan struct{}{make(chan struct{}), make(chan struct{})}, fail: fail}
	current.Store(at)
	return at
}

const twoBranches = `  left: {map: meet, from: letters, with: {side: 0}, checkpoint: true, workers: 1}
  right: {map: meet, from: letters, with: {side: 1}, checkpoint: true, workers: 1}
`

func TestIndependentNodesRunTogether(t *testing.T) {
	newMeeting(false)
	f := letters(t, twoBranches)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // without it they would wait forever
	defer cancel()
	r, err := f.Run(ctx, flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{})), Pool: pool.New(2)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"left", "right"} {
		if n := node(t, r, name); n.Computed != 26 {
			t.Errorf("%s: %d computed, want 26", name, n.Computed)
		}
	}
}

// TestNodesShareTheWorkers checks that concurrent nodes together compute no more samples
// than the run allows.
func TestNodesShareTheWorkers(t *testing.T) {
	at := newMeeting(false)
	at.come(0) // no sample waits
	at.come(1)
	f := letters(t, strings.ReplaceAll(twoBranches, ", workers: 1", ""))
	if _, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{})), Pool: pool.New(2)}); err != nil {
		t.Fatal(err)
	}
	if most := at.most.Load(); most > 2 {
		t.Errorf("%d samples were computed concurrently, and the run has 2 workers", most)
	}
}

// TestFailureLeavesTheRest checks that the error names the failed node, and that the next
// run finds the results of the others.
func TestFailureLeavesTheRest(t *testing.T) {
	newMeeting(true)
	f := letters(t, twoBranches)
	l := newLarder(t, memory.New(memory.Options{}))
	r, err := f.Run(t.Context(), flow.RunOptions{Larder: l, Pool: pool.New(2)})
	if err == nil || !strings.HasPrefix(err.Error(), "node left: sample ") || !strings.Contains(err.Error(), "no good") {
		t.Fatalf("error %v; want one that names the node and the sample", err)
	}
	before := node(t, r, "right").Computed
	if n := node(t, r, "right"); n.Failed != 0 {
		t.Errorf("right: %d failed, and was only requested to stop", n.Failed)
	}
	at := newMeeting(false)
	at.come(0) // right may have nothing left to do, and would not arrive
	at.come(1)
	if r, err = f.Run(t.Context(), flow.RunOptions{Larder: l, Pool: pool.New(2)}); err != nil {
		t.Fatal(err)
	}
	// A sample in flight at the end of the run may have been stored after the count. A
	// sample that was computed but arrived after the end is not stored.
	if n := node(t, r, "right"); n.Computed < 25-before || n.Computed > 27-before {
		t.Errorf("right: %d computed after %d were, want %d, or one more or less", n.Computed, before, 26-before)
	}
}

// TestReadersOfOneCacheTakeTurns checks that a cache with two sinks receives the order of
// each.
func TestReadersOfOneCacheTakeTurns(t *testing.T) {
	f := letters(t, `  seen: {map: rest, from: letters, cache: {policy: opt, size: 13}}
  one: {sink: underfolder, from: seen, with: {path: one}}
  two: {sink: underfolder, from: seen, with: {path: two}}
`)
	r, err := f.Run(t.Context(), flow.RunOptions{Pool: pool.New(2)})
	if err != nil {
		t.Fatal(err)
	}
	n := node(t, r, "seen")
	if n.Cache.KnownOrders != 2 || n.Cache.UnknownOrders != 0 {
		t.Errorf("%+v; want two passes of known order", n.Cache)
	}
	if n.FromMemory != 13 {
		t.Errorf("%d from memory, want the 13 that fit", n.FromMemory)
	}
}

// TestNodesEndWithTheirReaders checks that a node ends when no reader can request its
// samples, and no later.
func TestNodesEndWithTheirReaders(t *testing.T) {
	f := letters(t, `  seen: {map: rest, from: letters}
  one: {sink: underfolder, from: seen, with: {path: one}}
  other: {map: hash, from: letters}
  two: {sink: underfolder, from: other, with: {path: two}}
`)
	var order []string
	_, err := f.Run(t.Context(), flow.RunOptions{Pool: pool.New(1), Observers: []func(flow.Event){func(e flow.Event) {
		if e.Event == flow.NodeDone {
			order = append(order, e.Node)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(order, " "), "seen one letters other two"; got != want {
		t.Errorf("nodes ended in the order %s, want %s", got, want)
	}
}

// TestPanicIsTheErrorOfItsNode checks that an operator that panics fails, and that the
// program continues.
func TestPanicIsTheErrorOfItsNode(t *testing.T) {
	b := flow.NewBuilder("panics", t.TempDir())
	in := b.Add("in", dataset.List(dataset.Sample{}))
	b.Add("bad", func(context.Context, []component.Samples) (component.Data, error) { panic("oh no") }, in)
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Run(t.Context(), flow.RunOptions{Only: []string{"bad"}}); err == nil || !strings.Contains(err.Error(), "node bad: ") || !strings.Contains(err.Error(), "oh no") {
		t.Errorf("error %v, want one that names the node and what it said", err)
	}
}
