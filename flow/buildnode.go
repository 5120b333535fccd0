package flow

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// build builds the output of a node, or writes a sink.
func (r *run) build(ctx context.Context, s *state) error {
	start := time.Now()
	defer func() { s.spent += time.Since(start) }()
	env := r.env(s.Node, &s.stats)
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
			r.reportCopied(ctx, w, env.Pieces.Copied)
		}
		return err
	}
	if err != nil {
		return err
	}
	s.samples = count(s.data)
	if err := r.skipFailing(ctx, s); err != nil {
		return err
	}
	if s.Options.Auto && !larder.IsCachedOnly(ctx) {
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
	transform, ok := m.(dataset.Transform)
	o := dataset.MapOptions{
		Node: place, Larder: r.Larder, Stats: &s.stats, Slots: s.slots,
		Keep: s.Options.Keep || s.pinned || r.skipsCached(s) || s.eager && ok && transform.Makes() == nil,
	}
	if ok {
		r.applies(s, transform)
		if !r.ranges { // the next complete run records what was used
			mf := newManifest(r, s, place)
			s.manifest = append(s.manifest, mf)
			o.Cached = mf.add
		}
	}
	return o
}

// applyOp applies an operator to all parts together if it joins, and otherwise
// to each.
func (r *run) applyOp(ctx context.Context, s *state, env *component.Env, in component.Data) error {
	if s.Component.Materialises() {
		ds, err := r.datasetOf(ctx, s, env)
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

// remember wraps a node's data in the caches of its options.
func (r *run) remember(ctx context.Context, s *state) error {
	for i, part := range s.data.Parts {
		if s.pinned && r.Checkpoints != nil && !larder.IsCachedOnly(ctx) {
			stored, err := r.keepElsewhere(ctx, s, s.place(s.data.Names, i), part)
			if err != nil {
				return err
			}
			part = stored
		}
		if r.keepsHere(s) || s.Options.Keep || r.skips(s).Skip || r.skipsCached(s) {
			part = dataset.WithCaching(part)
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

// keepsHere reports whether a node is a checkpoint stored in the larder.
func (r *run) keepsHere(s *state) bool { return s.pinned && r.Checkpoints == nil }
