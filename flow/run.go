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

// RunOptions configure a run of a flow.
type RunOptions struct {
	Larder *larder.Larder // caches results; needed for keep and checkpoint
	Pool   *pool.Pool     // bounds the concurrency, and the bytes in use; nil means one sample per processor
	Only   []string       // nodes to run; none means all sinks and checkpoints
	Log    *slog.Logger   // takes warnings; nil means slog.Default()
	// Reads are the inputs, which must not be overwritten; nil means those of
	// [Flow.Inputs]. A caller that reads more adds it to these.
	Reads *pathguard.Inputs
	// Checkpoints stores the checkpoints; nil means the larder.
	Checkpoints Checkpoints
	// Discard releases the checkpoints after a run that succeeded.
	Discard bool
	// OnError applies to samples that a source or a mapper cannot compute,
	// unless the node has an option of its own.
	OnError OnError
	// Logs is the absolute path of a directory for the stderr of exec commands,
	// as NODE/SAMPLE.log for each sample with a command; "" means none.
	Logs string
	// Python is the program that runs functions of python mappers that name
	// none; "" leaves the choice to them.
	Python string
	// Stdin is the input of a source whose path is -; nil makes such a source
	// fail.
	Stdin *component.Input
	// Cached, if not nil, returns the cache of a node, or of one of its
	// outputs. It calls make, or returns a cache made earlier for the same node
	// ([Look.Of]).
	Cached func(node, output string, make func() (*dataset.CachedDataset, error)) (*dataset.CachedDataset, error)
	// Trace, if not nil, returns for a node that reads or computes samples a
	// function that receives the position of each requested sample, one line
	// each.
	Trace func(node string) (write func(line []byte))
	// Observers receive the events in order, each observer in a goroutine of
	// its own and one event at a time. They never block the run. Progress comes
	// at most ten times a second per node, and a slow observer gets only the
	// latest; it gets all other events. A run that has ended waits at most five
	// seconds for them.
	Observers []func(Event)

	during func(Event) // in tests: holds the run up
}

// ErrRequest marks invalid requests, in contrast to work that failed.
var ErrRequest = errors.New("the request is wrong")

// requestError is an error that is an ErrRequest.
type requestError struct{ error }

func (e requestError) Unwrap() []error { return []error{e.error, ErrRequest} }

// Run runs the targets of the flow: it computes and stores every checkpoint and
// writes every sink, each node after its inputs. It does not compute cached
// results again.
//
// When ctx ends, Run abandons samples in progress and keeps the results
// computed so far. It returns the report with any error.
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

// Open returns the output of a node, or of NODE.OUTPUT that output alone, to a
// program that reads the samples itself. It computes the checkpoints above
// first; everything else is lazy, as the node's options say. The larder must
// stay open while the data is used. Bytes read from the data count in the pool
// if ctx says so ([pool.Pool.Context]).
func (f *Flow) Open(ctx context.Context, node string, o RunOptions) (component.Data, error) {
	d, _, err := f.OpenCached(ctx, node, o)
	return d, err
}

// OpenCached is [Flow.Open] for callers that know the order in which they will
// read the samples. It also returns the caches on the path that use this order.
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

func (r *run) open(ctx context.Context, node string) (component.Data, error) {
	s, err := r.target(node)
	if err != nil {
		return component.Data{}, err
	}
	if s.Component.Kind == component.Sink {
		return component.Data{}, requestError{fmt.Errorf("node %s is a sink without output; name a node above", node)}
	}
	s.target = false // the caller reads it sample by sample
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

type run struct {
	*Flow
	RunOptions
	targets  []*Node
	states   []*state // of the nodes needed, in order
	byNode   map[string]*state
	adapting []places // for each node, those above it whose caches use a known order
	times    readTimes
	writings []*writing // of the sinks that may be up to date
	events   *events
	ends     bool             // a caller waits for the ending
	ending   component.Ending // of work outside of the process
	ranges   bool             // samples are computed in ranges, which several processes may share
}

// state is the state of a node in a run.
type state struct {
	*Node
	data     component.Data
	tally    dataset.Tally
	spent    time.Duration // wall time of building, applying, writing
	samples  int64
	passed   atomic.Int64    // samples of a stream that passed
	known    component.Known // what identifies the stream of a source, if known
	target   bool
	only     []string // of a target: the outputs that are wanted; nil means all
	pinned   bool     // it is a checkpoint, requested or decided
	decision string
	eager    bool // its results must be stored when they are computed, not later
	manifest []*manifest
	caches   []*dataset.CachedDataset
	passes   passes
	skipped  []Skip
	opened   component.Samples   // of a source that was opened to look ahead
	slots    *semaphore.Weighted // of the node's mapper, one per sample; nil means no bound
	pool     *pool.Pool          // of the node, if it has its own
	ended    chan struct{}       // closed once the node's work in a run is done
	at       int                 // its index among the states
	inputs   []*state            // nodes that it reads
	readers  []*state            // nodes that read it

	writing   *writing  // how a sink is written, if known
	unchanged bool      // its output is up to date, and no sample is read
	copied    int64     // samples of a sink that were written before and are not read
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
			return nil, fmt.Errorf("node %s caches its results, but no cache is open", n.Name)
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

// connect indexes states by the names of their nodes, and links readers and
// inputs.
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

func (r *run) context(ctx context.Context) context.Context {
	return r.Pool.Context(dataset.WithLog(ctx, r.Log))
}

func (r *run) state(name string) *state { return r.byNode[name] }

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

// pool returns the node's own pool if it bounds its workers, otherwise that of
// the run.
func (r *run) pool(n *Node) *pool.Pool {
	if own := r.state(n.Name).pool; own != nil {
		return own
	}
	return r.Pool
}

// build builds the output of a node, or writes a sink.
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

// input returns the data of a node's one input, or the parts of all inputs if
// the node joins several.
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

// mapping returns the options for applying a mapper at a node, or at one of its
// outputs.
func (r *run) mapping(s *state, place string, m dataset.Mapper) dataset.MapOptions {
	maker, ok := m.(dataset.Maker)
	o := dataset.MapOptions{
		Node: place, Larder: r.Larder, Tally: &s.tally, Slots: s.slots,
		Keep: s.Options.Keep || s.pinned || r.skips(s).Skip || s.eager && ok && maker.Makes() == nil,
	}
	if ok {
		r.applies(s, maker)
		if !r.ranges { // the next complete run records what was used
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

// applyOp applies an operator to all parts together if it joins, and otherwise
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

// keepsHere reports whether a node is a checkpoint stored in the larder.
func (r *run) keepsHere(s *state) bool { return s.pinned && r.Checkpoints == nil }

// remember wraps a node's data in the caches of its options.
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

// worthCaching reports whether a node may have a cache: nodes that read or
// compute samples. Reordered samples are those of the input.
func worthCaching(s *state) bool { return s.Component.Kind != component.Op || s.Component.Maps }

// materialise computes all samples of a node, and caches what its options ask
// for.
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
	s.tally.Done.Store(0) // of earlier work of an operator
	s.tally.Total.Store(count(component.Data{Parts: parts}))
	for _, part := range parts {
		if err := r.makeRange(ctx, s, part, 0, part.Len()); err != nil {
			return err
		}
	}
	return nil
}

// makeRange computes the samples in a range, and caches what the options ask
// for.
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

// makeOne computes one result. In a range it leaves out results that are not
// cached, because no process could use them.
func (r *run) makeOne(ctx context.Context, m *dataset.Making) error {
	if r.ranges {
		if kept, err := m.Kept(ctx); err != nil || !kept {
			return err
		}
	}
	return m.Make(ctx)
}

// settle ends the counting of hits at a node that has returned all samples, and
// at its inputs.
func (r *run) settle(s *state) {
	if s.tally.Settled.Swap(true) {
		return // its inputs are settled, too
	}
	for _, from := range s.inputs {
		r.settle(from)
	}
}
