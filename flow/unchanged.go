package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/filestate"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/zeebo/xxh3"
)

// A sink is up to date if the same nodes wrote it from the same files and its
// output has not changed since. Then no sample is read. This requires that all
// results for it are cached, because uncached results are computed in each run.
// Names, sizes and times must identify all files that are read and written
// ([component.Lister]).
//
// The dependencies of a sink form an action: the program, the nodes with their
// parameters, and the state of the files that they read (package filestate). Its
// key leads to a [written] in the store.

// written says what a sink wrote.
type written struct {
	Output key.Digest    `json:"output"` // the stamp of the output
	Inputs key.Digest    `json:"inputs"` // the content of the inputs that had changed shortly before At, summed with Seed
	Seed   uint64        `json:"seed"`
	At     time.Time     `json:"at"`
	Nodes  []writtenNode `json:"nodes"` // the sink, and those above it
	// Pins are the manifests of checkpoints among these, by name, each with its
	// checksum. While a manifest exists unchanged, its checkpoint is complete.
	Pins map[string][]byte `json:"pins,omitempty"`
}

// writtenNode is the report of a node in a run that reads no sample.
type writtenNode struct {
	Name    string        `json:"name"`
	Samples int64         `json:"samples"`
	Results int64         `json:"results"` // returned, computed or not
	Saved   time.Duration `json:"saved"`   // time that computing them took
}

// writtenType is the type of records that hold what a sink wrote.
var writtenType = xxh3.HashString("larder written 2")

// A writing is a sink whose output may be found up to date.
type writing struct {
	sink   *state
	nodes  []*state    // those above it, and the sink
	stands []bool      // nodes whose pinned manifests are unchanged; nil until computed
	action *key.Action // with the state of the inputs before the run
	inputs []filestate.Root
	before *filestate.Stamp
	began  time.Time  // time of that state
	recent key.Digest // content of the inputs that had changed shortly before, summed with seed
	seed   uint64
	found  *written         // nil: the sink must be written
	output *filestate.Stamp // of the output of the run; nil until then

	build  key.Code
	does   []key.Param // the codecs, and the work of each node: see [run.does]
	alone  bool        // each output sample depends only on the one at its position, through mappers that read no files
	rows   *key.Action // how the sink writes in pieces, if it does
	pieces *component.Pieces
	past   *pastPieces // nil: everything is computed
}

// leaveUnchanged finds the sinks that are up to date, and removes them from the
// run together with the nodes that only they read.
func (r *run) leaveUnchanged(ctx context.Context) {
	if r.Larder == nil || r.Larder.Verifying() || r.Discard || r.Trace != nil || r.Checkpoints != nil {
		return
	}
	for _, s := range r.states {
		if !s.target {
			continue
		}
		w := r.writing(ctx, s)
		if w == nil {
			continue
		}
		var err error
		if w.found = r.findWritten(ctx, w); w.found == nil {
			w.seed = rand.Uint64()
			w.recent, err = w.before.Contents(ctx, w.began, w.seed)
		}
		if err == nil {
			s.writing, r.writings = w, append(r.writings, w)
		}
	}
	for _, w := range r.writings {
		if w.found != nil {
			w.sink.unchanged = true
		}
	}
	for _, s := range slices.Backward(r.states) {
		read := slices.ContainsFunc(s.readers, func(n *state) bool { return !n.unchanged })
		s.unchanged = s.unchanged || len(s.readers) > 0 && !read && (!s.target || r.standsPinned(ctx, s))
	}
	for _, w := range r.writings {
		if w.found != nil {
			w.tell()
		}
	}
}

// standsPinned reports whether a node is a checkpoint that is up to date and
// still pinned, including the cached results above it.
func (r *run) standsPinned(ctx context.Context, s *state) bool {
	if !r.keepsHere(s) {
		return false
	}
	return slices.ContainsFunc(r.writings, func(w *writing) bool {
		return w.found != nil && r.pinned(ctx, w)[s.at]
	})
}

// pinned reports for each node above a sink whether it or a node above it has
// pinned manifests, and all of these are unchanged.
func (r *run) pinned(ctx context.Context, w *writing) []bool {
	if w.stands != nil {
		return w.stands
	}
	pins, lost := map[string]bool{}, map[string]bool{}
	for name, sum := range w.found.Pins {
		place, ok := strings.CutPrefix(name, r.manifestName(""))
		if !ok {
			continue
		}
		node, _, _ := strings.Cut(place, ".")
		pins[node] = true
		m, err := r.Larder.Store().Manifest(ctx, name)
		if now := sumOf(m); err != nil || !m.Pinned || !bytes.Equal(now[:], sum) {
			lost[node] = true
		}
	}
	pinned := func(n *state) bool { return pins[n.Name] }
	gone := func(n *state) bool { return lost[n.Name] }
	pinnedAbove, goneAbove := r.haveAbove(pinned), r.haveAbove(gone)
	w.stands = make([]bool, len(r.states))
	for _, n := range w.nodes {
		w.stands[n.at] = (pinned(n) || pinnedAbove[n.at]) && !gone(n) && !goneAbove[n.at]
	}
	return w.stands
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

// tell makes the nodes report the results that are still valid and were not
// read.
func (w *writing) tell() {
	nodes := make(map[string]*state, len(w.nodes))
	for _, s := range w.nodes {
		nodes[s.Name] = s
	}
	for _, n := range w.found.Nodes {
		if s := nodes[n.Name]; s != nil && s.unchanged && s.samples == 0 { // not reported for another sink
			s.samples = n.Samples
			s.stats.Stand(n.Results)
			s.stats.Save(n.Saved)
		}
	}
}

// writing describes how a sink is written, or returns nil if that needs a scan
// of the samples.
func (r *run) writing(ctx context.Context, s *state) *writing {
	if !s.Component.IsListed(s.Params) {
		return nil
	}
	w := &writing{sink: s, nodes: append(r.above(s, func(*state) bool { return false }), s), began: time.Now()}
	w.alone = true
	w.does = []key.Param{{Name: "codecs", Value: dataset.Codecs()}} // the program may have others another day
	for _, n := range w.nodes {
		does, ok := r.does(ctx, n)
		if !ok || !r.keepsAll(n) || r.skips(n).Skip { // skipped samples are tried again
			return nil
		}
		w.does = append(w.does, key.Param{Name: "node " + n.Name, Value: does})
		w.alone = w.alone && n.Component.Kind != component.Op
		for _, in := range n.Component.Inputs(r.bareEnv(n.Node), n.Params) {
			roots, err := rootsOf(ctx, in)
			if err != nil {
				return nil // the error occurs again where it can be reported
			}
			w.inputs = append(w.inputs, roots...)
			w.alone = w.alone && (n.Component.Kind == component.Source || len(roots) == 0)
		}
	}
	var err error
	if w.build, err = key.Build(); err != nil {
		return nil
	}
	op, err := key.NewOp("written by "+s.Component.Name, w.build, w.does...)
	if err != nil {
		return nil
	}
	if w.before, err = filestate.Of(ctx, w.inputs); err != nil {
		return nil
	}
	w.action = op.Action(key.Input{Name: "files", Ref: key.Content(w.before.Sum)})
	return w
}

func rootsOf(ctx context.Context, in pathguard.Input) ([]filestate.Root, error) {
	if in.Entry {
		return nil, nil // its content is a parameter of the mapper
	}
	if urlpath.Is(in.Path) {
		return nil, nil // no file state identifies it, so its source is not a [component.Lister]
	}
	roots := []filestate.Root{{Path: in.Path, Flat: in.Flat}}
	if in.Files == nil {
		return roots, nil
	}
	err := in.Files(ctx, func(path string) error {
		roots = append(roots, filestate.Root{Path: path})
		return nil
	})
	return roots, err
}

// does describes the work of a node: all that its output depends on except its
// inputs and the program. ok is false if that is unknown.
func (r *run) does(ctx context.Context, s *state) (does []any, ok bool) {
	c := s.Component
	if !c.IsRegistered() || (c.Kind == component.Source || c.Kind == component.Sink) && !c.IsListed(s.Params) {
		return nil, false
	}
	env := r.env(s.Node, &dataset.NodeStats{})
	env.Log = slog.New(slog.DiscardHandler) // it is built again where it is used
	does = []any{string(c.Kind), c.Name, s.Params, env.Dir}
	for _, in := range s.From {
		does = append(does, in.String())
	}
	ok = true
	component.Walk(s.Component, s.Params, func(c *component.Component, params any) {
		var parts []any
		switch {
		case !ok || c.Kind == component.Source || c.Kind == component.Sink: // they report their own inputs
			return
		case c.Kind == component.Map:
			var transform dataset.Transform
			if transform, ok = transformOf(c, env, params); !ok {
				return
			}
			if transform != nil {
				parts, ok = r.makes(ctx, s, transform)
				break
			}
			fallthrough
		default:
			var code string
			code, ok = steady(ctx, r.Larder, c)
			parts = []any{code}
		}
		does = append(does, parts...)
	})
	if !ok {
		return nil, false
	}
	_, err := key.Of(does)
	return does, err == nil
}

func (r *run) keepsAll(s *state) bool {
	if s.Options.Keep || s.Options.Checkpoint {
		return true
	}
	keeps := true
	env := r.env(s.Node, &dataset.NodeStats{})
	env.Log = slog.New(slog.DiscardHandler)
	component.Walk(s.Component, s.Params, func(c *component.Component, params any) {
		if c.Kind == component.Map && keeps {
			transform, ok := transformOf(c, env, params)
			keeps = ok && transform == nil
		}
	})
	return keeps
}

// transformOf returns the transform that a mapper is, or nil if it only moves items. ok
// is false if there is no mapper.
func transformOf(c *component.Component, env *component.Env, params any) (transform dataset.Transform, ok bool) {
	m, err := c.Mapper(env, params)
	if err != nil {
		return nil, false
	}
	transform, _ = m.(dataset.Transform)
	return transform, true
}

// makes describes the work of a transform of a node.
func (r *run) makes(ctx context.Context, s *state, transform dataset.Transform) (parts []any, ok bool) {
	op, err := transform.Op(ctx, r.Larder)
	if err != nil {
		return nil, false
	}
	k := op.Key()
	s.ops = append(s.ops, k)
	return []any{k.String(), transform.Reads(), transform.Makes()}, true
}

// findWritten returns what the sink wrote, if it would write the same again and
// its output has not changed since.
func (r *run) findWritten(ctx context.Context, w *writing) *written {
	rec, err := r.Larder.Store().Get(ctx, w.action.Key())
	if err != nil || rec.Type != writtenType {
		return nil
	}
	var found written
	if json.Unmarshal(rec.Payload, &found) != nil {
		return nil
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		read, err := w.before.Contents(gctx, found.At, found.Seed)
		if err == nil && read != found.Inputs {
			err = dataset.ErrChanged
		}
		return err
	})
	g.Go(func() error {
		out, err := filestate.Of(gctx, r.outputs(w.sink))
		if err == nil && out.Sum != found.Output {
			err = dataset.ErrChanged
		}
		return err
	})
	if g.Wait() != nil {
		return nil
	}
	if recent, _ := w.before.Recent(w.began); len(recent) == 0 && !found.Inputs.IsZero() && !larder.IsCachedOnly(ctx) {
		found.Inputs, found.At = key.Digest{}, w.began
		_ = r.putWritten(ctx, w, &found) // inputs unchanged for a while need not be read the next time
	}
	return &found
}

func (r *run) outputs(s *state) (roots []filestate.Root) {
	for _, o := range s.Component.Outputs(r.bareEnv(s.Node), s.Params) {
		roots = append(roots, filestate.Root{Path: o.Path, Flat: o.Files})
	}
	return roots
}

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

func (r *run) putWritten(ctx context.Context, w *writing, note *written) error {
	payload, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return r.putNote(ctx, store.Record{Key: w.action.Key(), Type: writtenType, Payload: payload}, w.action, note.Nodes)
}

// putNote stores a record that saves what nodes computed.
func (r *run) putNote(ctx context.Context, rec store.Record, a *key.Action, nodes []writtenNode) (err error) {
	if rec.Provenance, err = a.MarshalProvenance(); err != nil {
		return err
	}
	for _, n := range nodes {
		rec.Cost += n.Saved
	}
	return r.Larder.Store().Put(ctx, rec)
}
