package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/filestate"
	"github.com/larder-data/larder/key"
	"github.com/zeebo/xxh3"
)

// A sink is up to date if the same nodes wrote it from the same files and its
// output has not changed since. Then no sample is read. This requires that all
// results for it are cached, because uncached results are computed in each run.
// Names, sizes and times must identify all files that are read and written
// ([component.StatIdentified]).
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
	Nodes  []writtenNode `json:"nodes"` // the sink, and those upstream of it
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
	nodes  []*state    // those upstream of it, and the sink
	intact []bool      // nodes whose pinned manifests are unchanged; nil until computed
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
	pieces *component.OutputChunks
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
			w.reportReused()
		}
	}
}

// standsPinned reports whether a node is a checkpoint that is up to date and
// still pinned, including the cached results upstream.
func (r *run) standsPinned(ctx context.Context, s *state) bool {
	if !r.keepsHere(s) {
		return false
	}
	return slices.ContainsFunc(r.writings, func(w *writing) bool {
		return w.found != nil && r.pinned(ctx, w)[s.at]
	})
}

// pinned reports for each node upstream of a sink whether it or a node upstream of it has
// pinned manifests, and all of these are unchanged.
func (r *run) pinned(ctx context.Context, w *writing) []bool {
	if w.intact != nil {
		return w.intact
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
	pinnedUpstream, goneUpstream := r.anyUpstream(pinned), r.anyUpstream(gone)
	w.intact = make([]bool, len(r.states))
	for _, n := range w.nodes {
		w.intact[n.at] = (pinned(n) || pinnedUpstream[n.at]) && !gone(n) && !goneUpstream[n.at]
	}
	return w.intact
}

// reportReused makes the nodes report the results that are still valid and were not
// read.
func (w *writing) reportReused() {
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
