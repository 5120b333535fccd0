package flow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/stream"
)

// IsStream reports whether a node of the flow outputs a stream.
func (f *Flow) IsStream(n *Node) bool { return f.streams[n] }

// findStreams finds the nodes that output a stream, and refuses what a stream
// does not support.
func (f *Flow) findStreams() {
	f.streams = map[*Node]bool{}
	readers := map[*Node]*Node{}
	for _, n := range f.order {
		c := n.Component
		f.streams[n] = c.Kind == component.Source && c.IsStream(n.Params)
		for i, in := range n.From {
			from, err := f.Node(in.Node)
			switch {
			case err != nil:
			case !f.streams[from] && c.Materialises():
				f.wrongAt(n, in, "node %s is already a dataset; remove node %s and read %s directly", from.Name, n.Name, from.Name)
			case !f.streams[from]:
			case readers[from] != nil:
				f.wrongAt(n, in, "node %s is a stream, which node %s already reads; add op: materialise after it", from.Name, readers[from].Name)
			case !c.TakesStreams() && !c.Materialises():
				f.wrongAt(n, in, "%s %s needs a dataset, but node %s returns a stream; add op: materialise between them", c.Kind, c.Name, from.Name)
			default:
				readers[from] = n
				f.streams[n] = !c.Materialises()
				if i > 0 && c.Materialises() {
					f.wrongAt(n, in, "op %s reads one stream; join several with cat or interleave first", c.Name)
				}
			}
		}
		if f.streams[n] {
			f.checkStream(n)
		}
	}
}

// checkStream refuses options that a stream cannot have.
func (f *Flow) checkStream(n *Node) {
	if n.Options.Checkpoint || n.Options.Auto {
		f.wrong(n, "node %s is a stream and cannot be a checkpoint; cache the output of op: materialise", n.Name)
	}
	if o := n.Options.OnError; o != nil && o.Skip {
		f.wrong(n, "node %s is a stream and cannot skip samples; set on-error at a mapper after op: materialise", n.Name)
	}
}

// streamTargets refuses to run a stream on its own.
func (f *Flow) streamTargets(targets []*Node) error {
	for _, n := range targets {
		if f.streams[n] {
			return fmt.Errorf("node %s is a stream; name an op: materialise that reads the stream", n.Name)
		}
	}
	return nil
}

// buildStream builds the stream that a node outputs. It reads nothing.
func (r *run) buildStream(ctx context.Context, s *state, env *component.Env) error {
	in, err := r.streamsOf(ctx, s)
	if err != nil {
		return err
	}
	var out component.Stream
	switch s.Component.Kind {
	case component.Source:
		out, s.known, err = s.Component.OpenStream(ctx, env, s.Params)
	case component.Map:
		out, err = r.mapStream(s, env, in[0])
	default:
		out, err = s.Component.ApplyToStreams(env, s.Params, in)
	}
	s.data = component.OfStream(stream.MapAs(out, "counted", func(_ context.Context, sample dataset.Sample) (dataset.Sample, error) {
		s.passed.Add(1)
		return sample, nil
	}))
	return err
}

// streamsOf returns the input streams of a node. An input dataset becomes a
// stream of its samples, in order.
func (r *run) streamsOf(ctx context.Context, s *state) (all []component.Stream, err error) {
	for _, in := range s.From {
		d := r.state(in.Node).data
		if d.Stream != nil {
			all = append(all, *d.Stream)
			continue
		}
		if in.Output != "" {
			if d, err = d.Output(in.Output); err != nil {
				return nil, requestError{fmt.Errorf("from %s: %w", in, err)}
			}
		}
		for _, part := range d.Parts {
			print, err := dataset.Fingerprint(ctx, part, r.pool(s.Node))
			if err != nil {
				return nil, err
			}
			all = append(all, stream.FromDataset(part, print.String()))
		}
	}
	return all, nil
}

// mapStream applies a mapper to a stream, concurrently up to the number of the
// node's workers and in order. The node that makes a dataset of the stream
// caches the results.
func (r *run) mapStream(s *state, env *component.Env, in component.Stream) (component.Stream, error) {
	m, err := s.Component.Mapper(env, s.Params)
	if err != nil {
		return in, err
	}
	under := &passing{samples: map[int]dataset.Sample{}}
	mapped := dataset.Map(under, m, dataset.MapOptions{Node: s.Name, Larder: r.Larder, Stats: &s.stats, Slots: s.slots})
	return stream.MapParallel(stream.Enumerate(in, 0), r.pool(s.Node), func(ctx context.Context, at stream.Indexed[dataset.Sample]) (dataset.Sample, error) {
		under.put(at.Index, at.Value)
		defer under.drop(at.Index)
		sample, err := mapped.At(ctx, at.Index)
		if err != nil {
			return sample, err
		}
		for _, e := range sample.Executions() {
			if err := e.Make(ctx); err != nil {
				return sample, err
			}
		}
		return sample, nil
	}), nil
}

// passing is a dataset of the samples of a stream that are being mapped.
type passing struct {
	mu      sync.Mutex
	samples map[int]dataset.Sample
}

func (p *passing) Len() int { return math.MaxInt }

func (p *passing) At(_ context.Context, i int) (dataset.Sample, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.samples[i]
	if !ok {
		return s, &dataset.IndexError{Index: i, Len: i}
	}
	return s, nil
}

func (p *passing) put(i int, s dataset.Sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples[i] = s
}

func (p *passing) drop(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.samples, i)
}

// datasetOf builds the dataset that a node makes of a stream.
func (r *run) datasetOf(ctx context.Context, s *state, env *component.Env) (component.Samples, error) {
	in := r.state(s.From[0].Node).data.Stream
	return s.Component.Materialise(ctx, env, s.Params, *in, func() ([]any, error) { return r.madeOf(ctx, s) })
}

// madeOf describes what a stream depends on: the work of each of its nodes, and
// the content of its files. It returns an error along with the known parts if
// some are unknown.
func (r *run) madeOf(ctx context.Context, s *state) (parts []any, err error) {
	build, err := key.Build()
	if err != nil {
		return nil, err
	}
	parts = append(parts, build)
	above := r.upstream(s, func(n *state) bool { return n.data.Stream == nil })
	slices.SortFunc(above, func(a, b *state) int { return a.at - b.at })
	for _, n := range above {
		if n.data.Stream == nil {
			continue
		}
		does, nerr := r.streamDoes(ctx, n)
		if nerr != nil {
			err = errors.Join(err, fmt.Errorf("node %s: %w", n.Name, nerr))
		}
		parts = append(parts, does...)
	}
	return parts, err
}

// streamDoes describes the work of one node of a stream.
func (r *run) streamDoes(ctx context.Context, s *state) (parts []any, err error) {
	parts = []any{string(s.Component.Kind), s.Component.Name, s.Params}
	if !s.Component.IsRegistered() {
		return parts, component.ErrUnknown
	}
	if s.known != nil {
		does, err := s.known(ctx)
		return append(parts[:2], does...), err
	}
	if s.Component.Kind == component.Source {
		read, err := r.contents(ctx, s)
		return append(parts, read...), err
	}
	env := r.env(s.Node, &dataset.NodeStats{})
	component.Walk(s.Component, s.Params, func(c *component.Component, params any) {
		code, cerr := r.codeOf(ctx, c, env, params)
		if cerr != nil && err == nil {
			err = cerr
		}
		parts = append(parts, code)
	})
	return parts, err
}

// contents returns digests of the files that a source reads.
func (r *run) contents(ctx context.Context, s *state) (sums []any, err error) {
	var files key.Memo
	if r.Larder != nil {
		files = r.Larder.Files()
	}
	inputs := s.Component.Inputs(r.bareEnv(s.Node), s.Params)
	if len(inputs) == 0 {
		return nil, component.ErrOnce
	}
	for _, in := range inputs {
		if info, err := os.Stat(in.Path); err == nil && !info.Mode().IsRegular() {
			return nil, component.ErrOnce // a pipe
		}
		d, _, err := key.DigestFile(ctx, in.Path, files)
		if err != nil {
			return nil, err
		}
		sums = append(sums, d)
	}
	return sums, nil
}

// codeOf identifies the code of a mapper or an operator.
func (r *run) codeOf(ctx context.Context, c *component.Component, env *component.Env, params any) (string, error) {
	if c.Kind == component.Map {
		m, err := c.Mapper(env, params)
		if err != nil {
			return "", errors.New(display.Error(err))
		}
		if transform, ok := m.(dataset.Transform); ok {
			op, err := transform.Op(ctx, r.Larder)
			if err != nil {
				return "", fmt.Errorf("%w: %w", component.ErrUnknown, err)
			}
			return op.Key().String(), nil
		}
	}
	code, ok := steady(ctx, r.Larder, c)
	if !ok {
		return "", component.ErrUnknown
	}
	return code, nil
}
