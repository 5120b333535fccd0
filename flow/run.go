package flow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/pool"
)

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
	ctx, endLog := dataset.WithRunLog(ctx, r.Log)
	defer endLog()
	ctx = r.Pool.Context(ctx)
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
		return component.Data{}, requestError{fmt.Errorf("node %s is a sink without output; name an upstream node", node)}
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

// run is the state that the nodes of a run share.
type run struct {
	*Flow
	RunOptions
	targets  []*Node
	states   []*state // of the nodes needed, in order
	byNode   map[string]*state
	adapting []places // for each node, those upstream whose caches use a known order
	times    readTimes
	writings []*writing // of the sinks that may be up to date
	events   *events
	ends     bool              // a caller waits for the ending
	ending   component.Cleanup // of work outside of the process
	ranges   bool              // samples are computed in ranges, which several processes may share
	stage    int               // of the ranges; 0 if the caller chooses nodes
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
			s.slots, s.pool = semaphore.NewWeighted(int64(n.Options.Workers)), o.Pool.WithSlots(n.Options.Workers)
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

func (r *run) env(n *Node, stats *dataset.NodeStats) *component.Env {
	env := &component.Env{
		Node: n.Name, Dir: n.dir(r.Flow), Larder: r.Larder, Stats: stats, Inputs: r.Reads,
		Pool: r.pool(n), Python: r.Python, Log: r.Log.With("node", n.Name), Logs: r.Logs, Stdin: r.Stdin,
	}
	if r.ends {
		env.Cleanup = &r.ending
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
