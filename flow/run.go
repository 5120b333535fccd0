package flow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// RunOptions say how a flow is run.
type RunOptions struct {
	Larder *larder.Larder // keeps results; needed for keep and checkpoint
	Pool   *pool.Pool     // bounds the samples made at once, and the bytes in use meanwhile; nil means one a processor
	Only   []string       // nodes to run; none means all sinks and checkpoints
	Log    *slog.Logger   // takes warnings; nil means slog.Default()
	// Reads are what is read, and so not to be written; nil means those of
	// [Flow.Inputs]. A caller that reads more adds it to these.
	Reads *pathguard.Inputs
	// Checkpoints is where checkpoints are kept; nil means the larder.
	Checkpoints Checkpoints
	// Discard lets go of the checkpoints when the run has ended well.
	Discard bool
	// OnError says what becomes of samples that a source or a mapper cannot
	// make, where the node does not say it.
	OnError OnError
	// Logs is a folder, by its absolute path, that takes what commands of exec write to
	// stderr: NODE/SAMPLE.log of each sample that one is run for; "" means none.
	Logs string
	// Python is the program that runs functions of mappers python where they name none;
	// "" leaves it to them.
	Python string
	// Stdin is what a source reads whose path is -; nil is nothing, and an error there.
	Stdin *component.Input
	// Cached, if not nil, returns the cache of a node, or of one of its outputs, which make
	// makes: it may be one that was made of the same node before ([Look.Of]).
	Cached func(node, output string, make func() (*dataset.CachedDataset, error)) (*dataset.CachedDataset, error)
	// Trace, if not nil, returns for a node that reads or makes samples what is
	// told of the position of each one asked for, a line each.
	Trace func(node string) (write func(line []byte))
	// Observers are told of events, each by a goroutine of its own and one at a
	// time, in their order. They never hold the run up: of progress, at most ten
	// a second and node, one that is slow gets the latest alone; all else it gets.
	// A run that has ended waits five seconds at most for them.
	Observers []func(Event)

	during func(Event) // in tests: holds the run up
}

// ErrRequest marks errors of a request that cannot be carried out as it is,
// as against work that failed.
var ErrRequest = errors.New("the request is wrong")

// requestError is an error that is an ErrRequest.
type requestError struct{ error }

func (e requestError) Unwrap() []error { return []error{e.error, ErrRequest} }

// Run runs the targets of the flow: every checkpoint is computed and kept, and
// every sink is written, in an order in which each node comes after those that
// it reads. What is already kept is not computed again.
//
// When ctx ends, samples under way are given up and what was computed is kept.
// The report is returned with any error.
func (f *Flow) Run(ctx context.Context, o RunOptions) (*Report, error) {
	r, err := f.newRun(ctx, o)
	if err != nil {
		return nil, requestError{err}
	}
	ctx = r.context(ctx)
	r.ends = true
	start := time.Now()
	r.leaveUnchanged(ctx)
	stop := r.watch()
	if err = r.lookAhead(ctx); err == nil {
		err = r.all(ctx)
	}
	r.ending.Wait()
	if err == nil && o.Discard {
		err = r.discard(ctx)
	}
	if merr := r.saveManifests(context.WithoutCancel(ctx), err == nil); err == nil {
		err = merr
	}
	if err == nil {
		r.noteWritten(ctx)
	}
	stop()
	return r.report(ctx, err, time.Since(start)), err
}

// Open returns what a node puts out, or of NODE.OUTPUT what that output has, for a
// program that reads its samples itself. Checkpoints on the way are computed first; everything else is lazy,
// as the node's options say. The larder must stay open as long as the data is
// used, and bytes that are read of it are those of the pool if ctx says so
// ([pool.Pool.Context]).
func (f *Flow) Open(ctx context.Context, node string, o RunOptions) (component.Data, error) {
	d, _, err := f.OpenCached(ctx, node, o)
	return d, err
}

// OpenCached is [Flow.Open] for who knows in which order the samples will be read: it
// returns also the caches on the way that make use of that.
func (f *Flow) OpenCached(ctx context.Context, node string, o RunOptions) (d component.Data, caches []*dataset.CachedDataset, err error) {
	o.Only = []string{node}
	r, err := f.newRun(ctx, o)
	if err != nil {
		return d, nil, requestError{err}
	}
	d, err = r.open(ctx, node)
	for _, s := range r.states {
		caches = append(caches, s.caches...)
	}
	return d, caches, err
}

// open returns what a node puts out.
func (r *run) open(ctx context.Context, node string) (component.Data, error) {
	s, err := r.target(node)
	if err != nil {
		return component.Data{}, err
	}
	if s.Component.Kind == component.Sink {
		return component.Data{}, requestError{fmt.Errorf("node %s is a sink and puts out nothing", node)}
	}
	s.target = false // it is read by the caller, sample by sample
	ctx = r.context(ctx)
	err = r.all(ctx)
	err = errors.Join(err, r.saveManifests(context.WithoutCancel(ctx), err == nil))
	if err != nil || s.only == nil {
		return s.data, err
	}
	d, err := s.data.Output(s.only[0])
	if err != nil {
		return d, requestError{err}
	}
	return d, nil
}

// A run is one run of a flow.
type run struct {
	*Flow
	RunOptions
	targets  []*Node
	states   []*state // of the nodes needed, in order
	byNode   map[string]*state
	adapting []places // of each node, those above it whose caches make use of a known order
	times    readTimes
	writings []*writing // of the sinks of which it can be known that they need not be written
	events   *events
	ends     bool             // somebody waits for the ending
	ending   component.Ending // of what goes on outside of the process
	ranges   bool             // samples are made in ranges, of which each process may make others
}

// state is what a run knows of a node.
type state struct {
	*Node
	data     component.Data
	tally    dataset.Tally
	spent    time.Duration // wall time of building, applying, writing
	samples  int64
	passed   atomic.Int64    // samples of a stream that came by
	known    component.Known // what is in the stream of a source, if it says so
	target   bool
	only     []string // of a target: the outputs that are wanted; nil means all
	pinned   bool     // it is a checkpoint, asked for or decided
	decision string
	eager    bool // its results must be kept when they are made, not later
	manifest []*manifest
	caches   []*dataset.CachedDataset
	passes   passes
	skipped  []Skip
	opened   component.Samples   // of a source that was opened to look ahead
	slots    *semaphore.Weighted // of the node's mapper, one for a sample; nil means no bound
	pool     *pool.Pool          // of the node, if it has one of its own
	ended    chan struct{}       // closed once what the node does in a run is done
	at       int                 // its place among the states
	inputs   []*state            // nodes that it reads
	readers  []*state            // nodes that read it

	writing   *writing  // how a sink is written, if that is known
	unchanged bool      // what it was to do stands as it is, and no sample is looked at
	copied    int64     // samples of a sink that were written before, and not looked at
	ops       []key.Key // of the mappers that it applies, as a writing has them
}

func (f *Flow) newRun(ctx context.Context, o RunOptions) (*run, error) {
	targets, outputs, err := f.targets(o.Only)
	if err == nil {
		err = f.streamTargets(targets)
	}
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Pool == nil {
		o.Pool = pool.New(0)
	}
	r := &run{Flow: f, RunOptions: o, targets: targets, events: newEvents(o)}
	target := make(map[*Node]bool, len(targets))
	for _, n := range targets {
		target[n] = true
	}
	for _, n := range f.needed(targets) {
		if o.Larder == nil && (n.Options.Keep || n.Options.Auto || n.Options.Checkpoint && o.Checkpoints == nil) {
			return nil, fmt.Errorf("node %s keeps its results, and there is no larder to keep them in", n.Name)
		}
		s := &state{Node: n, target: target[n], eager: f.reach[n], pinned: n.Options.Checkpoint, only: outputs[n], ended: make(chan struct{})}
		if n.Options.Workers > 0 {
			s.slots, s.pool = semaphore.NewWeighted(int64(n.Options.Workers)), o.Pool.Beside(n.Options.Workers)
		}
		r.states = append(r.states, s)
	}
	r.connect()
	return r, r.protect(ctx)
}

// connect has states found by the names of their nodes, and by the nodes beside them.
func (r *run) connect() {
	r.byNode = make(map[string]*state, len(r.states))
	for i, s := range r.states {
		s.at, r.byNode[s.Name] = i, s
		for _, in := range s.From {
			from := r.state(in.Node)
			s.inputs, from.readers = append(s.inputs, from), append(from.readers, s)
		}
	}
	r.adapting = r.gather((*state).adapts, func(*state) bool { return false })
}

// context is what a run hands to all that it does.
func (r *run) context(ctx context.Context) context.Context {
	return r.Pool.Context(dataset.WithLog(ctx, r.Log))
}

func (r *run) state(name string) *state { return r.byNode[name] }

// env is what a component of the node may use.
func (r *run) env(n *Node, tally *dataset.Tally) *component.Env {
	env := &component.Env{
		Node: n.Name, Dir: n.dir(r.Flow), Larder: r.Larder, Tally: tally, Inputs: r.Reads,
		Pool: r.pool(n), Python: r.Python, Log: r.Log.With("node", n.Name), Logs: r.Logs, Stdin: r.Stdin,
	}
	if r.ends {
		env.Ending = &r.ending
	}
	if r.Larder != nil {
		env.Files = r.Larder.Files()
	}
	return env
}

// pool is what bounds what is done at once for a node: its own, if it says how much
// that is, or that of the run.
func (r *run) pool(n *Node) *pool.Pool {
	if own := r.state(n.Name).pool; own != nil {
		return own
	}
	return r.Pool
}

// build makes the data that a node puts out, or writes a sink.
func (r *run) build(ctx context.Context, s *state) error {
	start := time.Now()
	defer func() { s.spent += time.Since(start) }()
	env := r.env(s.Node, &s.tally)
	if r.streams[s.Node] {
		return r.buildStream(ctx, s, env)
	}
	in, err := r.input(s)
	if err != nil {
		return err
	}
	switch s.Component.Kind {
	case component.Source:
		if s.opened == nil {
			if s.opened, err = s.Component.OpenSource(ctx, env, s.Params); err != nil {
				return err
			}
		}
		s.data = component.One(s.opened)
	case component.Map:
		err = r.applyMapper(s, env, in)
	case component.Op:
		apply := func() error { return r.applyOp(ctx, s, env, in) }
		if s.Component.IsRegistered() && !s.Component.ScansFor(s.Params) {
			err = apply() // which reads nothing
		} else {
			err = r.reading(s, in.Parts, apply)
		}
	case component.Sink:
		s.samples = count(in)
		w := s.writing
		if w != nil {
			env.Written = func() { r.lookAtOutput(ctx, w) }
			env.Pieces = r.pieces(ctx, w, in)
		}
		err := r.reading(s, in.Parts, func() error { return s.Component.Write(ctx, env, s.Params, in) })
		if err == nil && env.Pieces != nil {
			r.tellCopied(ctx, w, env.Pieces.Copied)
		}
		return err
	}
	if err != nil {
		return err
	}
	s.samples = count(s.data)
	if err := r.sift(ctx, s); err != nil {
		return err
	}
	if s.Options.Auto && !larder.IsDry(ctx) {
		if err := r.decide(ctx, s); err != nil {
			return err
		}
	}
	return r.remember(ctx, s)
}

func count(d component.Data) (n int64) {
	for _, p := range d.Parts {
		n += int64(p.Len())
	}
	return n
}

// input returns what a node reads: the data of its one input, or of a node
// that joins several, the parts of all of them.
func (r *run) input(s *state) (component.Data, error) {
	var all component.Data
	for _, in := range s.From {
		d := r.state(in.Node).data
		if in.Output != "" {
			var err error
			if d, err = d.Output(in.Output); err != nil {
				return d, requestError{fmt.Errorf("from %s: %w", in, err)}
			}
		}
		if !s.Component.Many {
			return d, nil
		}
		all.Parts = append(all.Parts, d.Parts...)
	}
	return all, nil
}

// applyMapper maps each part of the input.
func (r *run) applyMapper(s *state, env *component.Env, in component.Data) error {
	m, err := s.Component.Mapper(env, s.Params)
	if err != nil {
		return err
	}
	s.data.Names = in.Names
	for i, part := range in.Parts {
		s.data.Parts = append(s.data.Parts, dataset.Map(part, m, r.mapping(s, s.place(in.Names, i), m)))
	}
	return nil
}

// mapping says how a node, or one of its outputs, applies a mapper.
func (r *run) mapping(s *state, place string, m dataset.Mapper) dataset.MapOptions {
	maker, ok := m.(dataset.Maker)
	o := dataset.MapOptions{
		Node: place, Larder: r.Larder, Tally: &s.tally, Slots: s.slots,
		Keep: s.Options.Keep || s.pinned || r.skips(s).Skip || s.eager && ok && maker.Makes() == nil,
	}
	if ok {
		r.applies(s, maker)
		if !r.ranges { // the next run that makes all knows what was used
			mf := newManifest(r, s, place)
			s.manifest = append(s.manifest, mf)
			o.Kept = mf.note
		}
	}
	return o
}

// place names one part of a node's data: the node, or one of its outputs.
func (s *state) place(outputs []string, i int) string {
	in := Input{Node: s.Name}
	if outputs != nil {
		in.Output = outputs[i]
	}
	return in.String()
}

// applyOp applies an operator: to all parts at once if it joins, and otherwise
// to each.
func (r *run) applyOp(ctx context.Context, s *state, env *component.Env, in component.Data) error {
	if s.Component.Materialises() {
		ds, err := r.materialised(ctx, s, env)
		s.data = component.One(ds)
		return err
	}
	if s.Component.Many || in.Names == nil {
		env.Mapping = func(m dataset.Mapper) dataset.MapOptions { return r.mapping(s, s.Name, m) }
		var err error
		s.data, err = s.Component.Apply(ctx, env, s.Params, in.Parts)
		return err
	}
	if s.Component.Outs {
		_, err := in.Single()
		return err
	}
	s.data.Names = in.Names
	for i, part := range in.Parts {
		env.Mapping = func(m dataset.Mapper) dataset.MapOptions { return r.mapping(s, s.place(in.Names, i), m) }
		d, err := s.Component.Apply(ctx, env, s.Params, []component.Samples{part})
		if err != nil {
			return fmt.Errorf("output %s: %w", in.Names[i], err)
		}
		s.data.Parts = append(s.data.Parts, d.Parts...)
	}
	return nil
}

// keepsHere reports whether a node is a checkpoint that is kept in the larder.
func (r *run) keepsHere(s *state) bool { return s.pinned && r.Checkpoints == nil }

// remember puts around a node's data what its options ask for.
func (r *run) remember(ctx context.Context, s *state) error {
	for i, part := range s.data.Parts {
		if s.pinned && r.Checkpoints != nil && !larder.IsDry(ctx) {
			kept, err := r.keepElsewhere(ctx, s, s.place(s.data.Names, i), part)
			if err != nil {
				return err
			}
			part = kept
		}
		if r.keepsHere(s) || s.Options.Keep || r.skips(s).Skip {
			part = dataset.Keeping(part)
		}
		if s.Options.Cache != nil && worthCaching(s) {
			cached, err := r.cache(ctx, s, s.place(s.data.Names, i), part)
			if err != nil {
				return err
			}
			part = cached
		}
		if r.Trace != nil && worthCaching(s) {
			part = dataset.Traced(part, r.Trace(s.place(s.data.Names, i)))
		}
		s.data.Parts[i] = part
	}
	return nil
}

// worthCaching says which nodes a cache is put around: those that read or make
// something. Samples in another order are the samples of the node before.
func worthCaching(s *state) bool { return s.Component.Kind != component.Op || s.Component.Maps }

// materialise computes all that makes the node's samples, and keeps what is to
// be kept.
func (r *run) materialise(ctx context.Context, s *state) error {
	parts, err := s.wanted(s.data)
	if err != nil {
		return err
	}
	err = r.reading(s, parts, func() error { return r.makeAll(ctx, s, parts) })
	if err == nil && s.only == nil {
		r.settle(s)
	}
	return err
}

func (r *run) makeAll(ctx context.Context, s *state, parts []component.Samples) error {
	s.tally.Done.Store(0) // of what an operator did before
	s.tally.Total.Store(count(component.Data{Parts: parts}))
	for _, part := range parts {
		if err := r.makeRange(ctx, s, part, 0, part.Len()); err != nil {
			return err
		}
	}
	return nil
}

// makeRange computes all that makes some samples, and keeps what is to be kept.
func (r *run) makeRange(ctx context.Context, s *state, part component.Samples, from, to int) error {
	ranges := dataset.RangesOf(part)
	return r.pool(s.Node).AtLeast(dataset.BatchOf(part)).Ranges(ctx, to-from, func(ctx context.Context, i, j int) (int, error) {
		samples, err := ranges.Range(ctx, from+i, from+j)
		for i, sample := range samples {
			for _, m := range sample.Makings() {
				if err := r.makeOne(ctx, m); err != nil {
					return i, err
				}
			}
			s.tally.Done.Add(1)
		}
		return len(samples), err
	})
}

// makeOne computes one result, also one that is not kept, unless nobody would have it.
func (r *run) makeOne(ctx context.Context, m *dataset.Making) error {
	if r.ranges {
		if kept, err := m.Kept(ctx); err != nil || !kept {
			return err
		}
	}
	return m.Make(ctx)
}

// settle ends the counting of hits at a node all of whose samples were handed
// out, and at those that it read.
func (r *run) settle(s *state) {
	if s.tally.Settled.Swap(true) {
		return // and so are those that it reads
	}
	for _, from := range s.inputs {
		r.settle(from)
	}
}
