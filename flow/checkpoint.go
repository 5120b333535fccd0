package flow

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// Checkpoints stores the samples of checkpoints outside of the larder, for
// example in a directory that other programs read, or in a database.
type Checkpoints interface {
	// Keep computes and stores the samples of c, unless the stored ones have
	// the same fingerprint. It returns them as read back.
	Keep(ctx context.Context, c Checkpoint) (component.Samples, error)
	// Discard deletes what is stored for a node of a flow. It is not an error
	// if nothing is stored.
	Discard(ctx context.Context, flow, node string) error
}

// A Checkpoint describes the samples to store.
type Checkpoint struct {
	Flow string // the file of the flow, or its name
	Node string // the node, or NODE.OUTPUT for one output of several
	Data component.Samples
	Pool *pool.Pool // bounds the samples stored concurrently
}

// Fingerprint identifies the samples without computing them.
func (c Checkpoint) Fingerprint(ctx context.Context) (key.Digest, error) {
	return dataset.Fingerprint(ctx, c.Data, c.Pool)
}

// keepElsewhere passes a part of a node's data to the run's own Checkpoints.
func (r *run) keepElsewhere(ctx context.Context, s *state, place string, part component.Samples) (component.Samples, error) {
	s.stats.Total.Add(int64(part.Len()))
	counted := dataset.Func(part.Len(), func(ctx context.Context, i int) (dataset.Sample, error) {
		s.stats.Done.Add(1)
		return part.At(ctx, i)
	})
	cached, err := r.Checkpoints.Keep(ctx, Checkpoint{Flow: r.id(), Node: place, Data: dataset.WithMinBatch(counted, dataset.BatchOf(part)), Pool: r.pool(s.Node)})
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if cached.Len() != part.Len() {
		return nil, fmt.Errorf("checkpoint: %d samples were stored and %d read back", part.Len(), cached.Len())
	}
	return cached, nil
}

// discard releases the checkpoints of a run that succeeded. In the larder it
// unpins them, so they are evicted when space is needed.
func (r *run) discard(ctx context.Context) error {
	for _, s := range r.states {
		for _, m := range s.manifest {
			m.pinned = false
		}
		if !s.pinned || r.Checkpoints == nil {
			continue
		}
		for i := range s.data.Parts {
			if err := r.Checkpoints.Discard(ctx, r.id(), s.place(s.data.Names, i)); err != nil {
				return fmt.Errorf("node %s: discard the checkpoint: %w", s.Name, err)
			}
		}
	}
	return nil
}

// reachCheckpoint returns the nodes whose results a checkpoint depends on.
func (f *Flow) reachCheckpoint() map[*Node]bool {
	reach := map[*Node]bool{}
	for _, n := range slices.Backward(f.order) {
		if n.Options.Checkpoint || n.Options.Auto {
			reach[n] = true
		}
		for _, in := range n.From {
			if from, err := f.Node(in.Node); err == nil && reach[n] {
				reach[from] = true
			}
		}
	}
	return reach
}

// Pins reports whether results of a node are pinned for a checkpoint.
func (f *Flow) Pins(node string) bool { return f.reach[f.byName[node]] }
