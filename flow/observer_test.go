package flow_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/store/memory"
)

// TestObserversHoldNoCallerUp checks that a blocked observer delays neither the run nor other
// observers. It gets all later events, and of progress the latest.
func TestObserversHoldNoCallerUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := flow.NewBuilder("slow", t.TempDir())
		in := b.Add("in", dataset.Func(20, func(context.Context, int) (dataset.Sample, error) {
			time.Sleep(time.Second)
			return dataset.Sample{}, nil
		}))
		b.Add("out", func(ctx context.Context, d component.Data) error {
			for i := range d.Parts[0].Len() {
				if _, err := d.Parts[0].At(ctx, i); err != nil {
					return err
				}
			}
			return nil
		}, in)
		f, err := b.Flow()
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		var slow, quick []flow.EventKind
		hangs := func(e flow.Event) {
			<-release
			slow = append(slow, e.Event)
		}
		start := time.Now()
		if _, err := f.Run(t.Context(), flow.RunOptions{Observers: []func(flow.Event){hangs, func(e flow.Event) { quick = append(quick, e.Event) }}}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 25*time.Second {
			t.Errorf("20 seconds of work, and an observer that hangs, took %v", took)
		}
		synctest.Wait()
		if n := len(quick); n < 4 || quick[0] != flow.NodeStarted || quick[n-1] != flow.NodeDone {
			t.Errorf("the other observer received %v", quick)
		}
		close(release)
		synctest.Wait()
		notification := slices.DeleteFunc(slices.Clone(slow), func(k flow.EventKind) bool { return k == flow.NodeProgress })
		if want := []flow.EventKind{flow.NodeStarted, flow.NodeStarted, flow.NodeDone, flow.NodeDone}; !slices.Equal(notification, want) || len(slow) > len(want)+2 {
			t.Errorf("the one that hung received %v", slow)
		}
	})
}

// TestScansAreThrough checks that the progress of an operator that reads all samples
// reaches its end, whether it reads them or finds a cached result.
func TestScansAreThrough(t *testing.T) {
	f := letters(t, `
  red: {op: filter, from: letters, with: {where: 'metadata.color == "red"'}}
  stats: {map: image-stats, from: red, keep: true}
  sorted: {op: sort, from: stats, with: {by: stats.width}}
  out: {sink: underfolder, from: sorted, with: {path: out, overwrite: if-empty}}
`)
	s := memory.New(memory.Options{})
	for run := range 2 {
		last := map[string]flow.Event{}
		_, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, s), Only: []string{"sorted"}, Observers: []func(flow.Event){func(e flow.Event) { last[e.Node] = e }}})
		if err != nil {
			t.Fatal(err)
		}
		if e := last["red"]; e.Total != 26 || e.Done != 26 {
			t.Errorf("run %d: filter is at %d of %d, want 26", run, e.Done, e.Total)
		}
		if e := last["sorted"]; e.Total == 0 || e.Total >= 26 || e.Done != e.Total {
			t.Errorf("run %d: sort is at %d of %d", run, e.Done, e.Total)
		}
	}
}
