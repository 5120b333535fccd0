package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/flow/lint"
	"github.com/larder-data/larder/loader"
)

// A pipeline is a request that one or more clients have opened. They share its
// caches, and a sample in use by several is decoded once.
type pipeline struct {
	spec     string // the request as JSON
	id       string // unique
	name     string // for display
	look     *flow.Snapshot
	loader   *loader.Loader
	parts    []openedPart
	editions *editions

	sharded string // warning for readers with several ranks; "" for none

	ready  chan struct{} // closed when err or the content is set
	cancel context.CancelFunc
	err    error
	users  int // guarded by pipelines.mu
}

type openedPart struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"`
}

// pipelines are the pipelines that are open, or were recently.
type pipelines struct {
	server *Server
	mu     sync.Mutex
	open   []*pipeline
	made   int // number of pipelines so far
	caches sharedCaches
}

// requestError is an invalid request, flowError an invalid flow.
type (
	requestError struct{ error }
	flowError    struct{ error }
)

func (e requestError) Unwrap() error { return e.error }
func (e flowError) Unwrap() error    { return e.error }

// get returns the pipeline for a request. It shares an open one if its files are
// unchanged, or if it has the id, which the client got when it opened the same
// before. leave must release it. note receives progress, also later.
func (ps *pipelines) get(ctx context.Context, o *openRequest, id string, note func(level, text string)) (*pipeline, error) {
	if err := o.check(); err != nil {
		return nil, requestError{err}
	}
	spec, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if p := ps.again(string(spec), id); p != nil {
		return ps.await(ctx, p)
	}
	b := &opening{server: ps.server, request: o, note: note}
	look, err := b.look(ctx)
	if err != nil {
		return nil, err
	}
	p, mine := ps.join(ctx, string(spec), look)
	if mine {
		p.name = b.name()
		octx, cancel := context.WithCancel(ps.server.ctx)
		p.cancel = cancel
		go func() {
			defer cancel() // a pipeline outlives its opening, and does not use this context
			ps.opened(p, b.open(octx, p))
		}()
	}
	return ps.await(ctx, p)
}

// await waits until a pipeline is open.
func (ps *pipelines) await(ctx context.Context, p *pipeline) (_ *pipeline, err error) {
	select {
	case <-p.ready:
		err = p.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		ps.leave(p)
		return nil, err
	}
	return p, nil
}

// again returns the pipeline with an id, if it exists and belongs to the request.
func (ps *pipelines) again(spec, id string) *pipeline {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.open {
		if id != "" && p.id == id && p.spec == spec {
			p.users++
			return p
		}
	}
	return nil
}

// join returns the pipeline of a request. mine says that the caller must open it.
func (ps *pipelines) join(ctx context.Context, spec string, look *flow.Snapshot) (p *pipeline, mine bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.open {
		if p.spec == spec && look.Same(ctx, p.look) {
			p.users++
			return p, false
		}
	}
	ps.made++
	id := fmt.Sprintf("%x.%x", ps.server.began.UnixNano(), ps.made)
	p = &pipeline{spec: spec, id: id, look: look, ready: make(chan struct{}), users: 1, editions: newEditions(&ps.caches)}
	ps.open = append(ps.open, p)
	return p, true
}

// opened records that a pipeline is open, or its error. It releases a pipeline
// without users.
func (ps *pipelines) opened(p *pipeline, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.err = err
	close(p.ready)
	if err != nil || !slices.Contains(ps.open, p) {
		p.editions.close()
	}
}

// unused is the number of pipelines without users that stay open, with their
// caches, for another client with the same request.
const unused = 2

// leave releases a pipeline. Its last user cancels an opening in progress.
func (ps *pipelines) leave(p *pipeline) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p.users--; p.users > 0 {
		return
	}
	ps.remove(p)
	defer ps.server.tidy()
	select {
	case <-p.ready:
		if p.err == nil {
			ps.open = append(ps.open, p) // the most recent of those without users
			ps.forget()
		}
	default:
		p.cancel()
	}
}

// forget closes the oldest pipelines without users.
func (ps *pipelines) forget() {
	n := 0
	for _, p := range slices.Backward(slices.Clone(ps.open)) {
		if p.users > 0 {
			continue
		}
		if n++; n > unused {
			ps.remove(p)
			p.editions.close()
		}
	}
}

func (ps *pipelines) remove(p *pipeline) {
	ps.open = slices.DeleteFunc(ps.open, func(q *pipeline) bool { return q == p })
}

// An opening is a request for which a pipeline is being opened.
type opening struct {
	server  *Server
	request *openRequest
	note    func(level, text string)

	file    string
	content []byte
	flow    *flow.Flow
	epochs  bool // the flow has a variable for the epoch
}

// epochVariable is the variable of a flow with the number of the epoch. Random
// mappers use it for new draws in each epoch.
const epochVariable = "epoch"

// look parses the flow, and takes a snapshot of its dependencies.
func (b *opening) look(ctx context.Context) (*flow.Snapshot, error) {
	if err := b.read(); err != nil {
		return nil, err
	}
	f, err := b.parse(0)
	if err != nil {
		return nil, flowError{err}
	}
	b.flow = f
	b.server.options.limits(f.Limits)
	look, err := f.Snapshot(ctx, b.options())
	return look, b.reported(err)
}

// name returns a readable name of the request: the flow's file and the nodes.
func (b *opening) name() string {
	name := b.request.Flow.File
	if name == "" {
		name = "a flow of " + b.request.Flow.Dir
	}
	for _, part := range b.request.Parts {
		name += " " + part.Node
	}
	return name
}

// read reads the flow's file.
func (b *opening) read() (err error) {
	spec := b.request.Flow
	b.file, b.content = filepath.Join(spec.Dir, "flow.yaml"), []byte(spec.Text)
	if spec.File != "" {
		b.file = filepath.Clean(spec.File)
		if b.content, err = flow.ReadFile(b.file); err != nil {
			return requestError{fmt.Errorf("the flow cannot be read: %w", err)}
		}
	}
	return nil
}

// parse builds the flow of an epoch.
func (b *opening) parse(epoch uint64) (*flow.Flow, error) {
	vars := map[string]string{}
	if b.request.Profile != "" {
		var err error
		if vars, err = flow.Profile(b.file, b.content, b.request.Profile); err != nil {
			return nil, err
		}
	}
	maps.Copy(vars, b.request.Set)
	_, set := b.request.Set[epochVariable]
	b.epochs = !set && slices.Contains(flow.VarsIn(string(b.content)), epochVariable)
	if b.epochs {
		vars[epochVariable] = strconv.FormatUint(epoch, 10)
	}
	return flow.Parse(b.file, b.content, vars)
}

func (b *opening) options() flow.RunOptions {
	o := flow.RunOptions{Larder: b.server.options.Larder, Pool: b.server.pool, Log: b.server.log, Python: b.request.Python}
	reported := time.Now()
	o.Observers = []func(flow.Event){func(ev flow.Event) {
		if ev.Event == flow.NodeProgress && time.Since(reported) > time.Second { // opening may have to compute results first
			reported = time.Now()
			b.note("info", fmt.Sprintf("node %s: %d of %d", ev.Node, ev.Done, ev.Total))
		}
	}}
	for _, part := range b.request.Parts {
		if !slices.Contains(o.Only, part.Node) {
			o.Only = append(o.Only, part.Node)
		}
	}
	return o
}

// reported marks an error as that of a request or of a flow.
func (b *opening) reported(err error) error {
	if errors.Is(err, flow.ErrRequest) {
		return requestError{err}
	}
	return err
}

// open creates the pipeline's loader.
func (b *opening) open(ctx context.Context, p *pipeline) error {
	o := loader.Options{Pool: b.server.pool, Skip: b.request.Skip}
	var err error
	if o.Plan, err = b.request.plan(); err != nil {
		return requestError{err}
	}
	if o.Fields, err = b.request.fields(); err != nil {
		return requestError{err}
	}
	first, err := p.editions.open(ctx, b, 0, b.flow, p.look)
	if err != nil {
		return err
	}
	o.Data, o.Caches, o.Watch = first.data, first.ordered, first.others()
	p.sharded = b.sharded()
	for k, part := range b.request.Parts {
		to, err := b.part(ctx, part, o.Data[k])
		if err != nil {
			return fmt.Errorf("part %d (%s): %w", k, to.Name, err)
		}
		if k == 0 {
			to.Identity = p.look.Identity
		}
		o.Plan.Parts = append(o.Plan.Parts, to)
		p.parts = append(p.parts, openedPart{to.Name, to.Len})
	}
	if b.epochs {
		o.Epoch = func(ctx context.Context, epoch uint64) ([]loader.Data, error) { return p.editions.of(ctx, b, epoch) }
	}
	if p.loader, err = loader.New(o); err != nil {
		return requestError{err}
	}
	return nil
}

// sharded returns a warning if the first part is already the share of one process
// in the flow, so that ranks should not share it again.
func (b *opening) sharded() string {
	for _, part := range b.request.Parts {
		node, _, _ := strings.Cut(part.Node, ".")
		if shard := lint.ShardOf(b.flow, node); shard != nil {
			return fmt.Sprintf("node %s: node %s passes on the share of one process, and each rank gets a share of that: remove it, or read as one rank (docs/reference/lint-rules.md#double-shard)", part.Node, shard.Name)
		}
	}
	return ""
}

// part returns the loader's description of a part.
func (b *opening) part(ctx context.Context, spec partSpec, data loader.Data) (to loader.Part, err error) {
	to = loader.Part{Name: spec.Name, Weight: spec.Weight, Len: data.Len()}
	if to.Name == "" {
		to.Name = spec.Node
	}
	if spec.Only != nil {
		if to.Only, err = spec.Only.order(data.Len()); err != nil {
			return to, requestError{err}
		}
	}
	if l := b.request.Length; l != nil {
		to.Lengths, err = loader.Lengths(ctx, data, loader.LengthOptions{Item: l.Item, Expression: l.Expression, Larder: b.server.options.Larder, Pool: b.server.pool})
	}
	return to, err
}
