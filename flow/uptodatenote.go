package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/filestate"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// settleTime is how long after a change Linux may give another change the same
// time on its own file systems: a tick of the clock, 10 ms at most.
const settleTime = 12 * time.Millisecond

// lookAtOutput records the state of what a sink has just written, while no
// other run may write there.
func (r *run) lookAtOutput(ctx context.Context, w *writing) {
	select {
	case <-time.After(settleTime): // from now on a change has another time
	case <-ctx.Done():
		return
	}
	if out, err := filestate.Of(ctx, r.outputs(w.sink)); err == nil {
		if w.pieces == nil || w.pieces.Seal == nil || w.pieces.Seal(out.Files()) {
			w.output = out
		}
	}
}

// applies receives each transform that the node applies. If a transform differs from
// that at the start of the run, because a file that it depends on has changed,
// its results are unknown.
func (r *run) applies(s *state, m dataset.Transform) {
	if len(s.ops) > 0 {
		op, err := m.Op(context.Background(), r.Larder) // computed when the run began
		if err == nil && slices.Contains(s.ops, op.Key()) {
			return
		}
	}
	s.stats.Loose.Store(true)
}

// noteWritten records what each sink wrote, after a run that succeeded.
func (r *run) noteWritten(ctx context.Context) {
	for _, w := range r.writings {
		if w.output == nil {
			if w.found != nil && w.pins(w.found) {
				_ = r.putWritten(ctx, w, w.found) // else the next run would scan the checkpoint again
			}
			continue
		}
		if err := r.note(ctx, w); err != nil && !errors.Is(err, store.ErrReadOnly) && !errors.Is(err, store.ErrFull) {
			r.Log.Debug("output of a sink was not recorded", "node", w.sink.Name, "error", err)
		}
	}
}

// note records what a sink wrote, unless its inputs changed during the run.
func (r *run) note(ctx context.Context, w *writing) error {
	note := written{At: time.Now(), Seed: w.seed}
	for _, s := range w.nodes {
		t := &s.stats
		if t.Loose.Load() || t.Failed.Load() > 0 {
			return fmt.Errorf("node %s has dependencies that its inputs do not show", s.Name)
		}
		note.Nodes = append(note.Nodes, writtenNode{
			Name: s.Name, Samples: s.samples, Results: t.Handed(), Saved: t.Saved() + t.Spent(),
		})
	}
	after, err := filestate.Of(ctx, w.inputs)
	if err != nil {
		return err
	}
	read, err := w.before.Contents(ctx, w.began, w.seed)
	if err == nil && (after.Sum != w.before.Sum || read != w.recent) {
		err = dataset.ErrChanged
	}
	if err != nil {
		return err
	}
	was, _ := w.before.Recent(w.began)
	if now, _ := after.Recent(note.At); slices.Equal(was, now) {
		note.Inputs = read // of the same files, which need not be read once more
	} else if note.Inputs, err = after.Contents(ctx, note.At, note.Seed); err != nil {
		return err
	}
	note.Output = w.output.Sum
	w.pins(&note)
	return errors.Join(r.putWritten(ctx, w, &note), r.notePieces(ctx, w, note.Nodes))
}

// pins adds the manifests that the run pinned for checkpoints to the note of a
// sink, if they are complete. It reports whether it added any.
func (w *writing) pins(note *written) bool {
	pins := maps.Clone(note.Pins)
	if pins == nil {
		pins = map[string][]byte{}
	}
	added := false
	for _, s := range w.nodes {
		if !s.eager {
			continue
		}
		for _, m := range s.manifest {
			if s.unchanged || m.lost || m.sum == [16]byte{} {
				return false
			}
			pins[m.name], added = m.sum[:], true
		}
	}
	if added = added && len(pins) <= maxPins; added {
		note.Pins = pins
	}
	return added
}

// maxPins bounds the manifests recorded for a sink, which include those of
// other flows that write the same output.
const maxPins = 1000

func (r *run) putWritten(ctx context.Context, w *writing, note *written) error {
	payload, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return r.putNote(ctx, store.Record{Key: w.action.Key(), Type: writtenType, Payload: payload}, w.action, note.Nodes)
}

// putNote stores a record that saves what nodes computed.
func (r *run) putNote(ctx context.Context, rec store.Record, a *key.Action, nodes []writtenNode) error {
	rec.Provenance = a.MarshalProvenance()
	for _, n := range nodes {
		rec.Cost += n.Saved
	}
	return r.Larder.Store().Put(ctx, rec)
}
