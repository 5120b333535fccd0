package flow

import (
	"context"
	"log/slog"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/filestate"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
	"github.com/larder-data/larder/key"
)

// writing describes how a sink is written, or returns nil if that needs a scan
// of the samples.
func (r *run) writing(ctx context.Context, s *state) *writing {
	if !s.Component.IsListed(s.Params) {
		return nil
	}
	w := &writing{sink: s, nodes: append(r.upstream(s, func(*state) bool { return false }), s), began: time.Now()}
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
		return nil, nil // no file state identifies it, so its source is not a [component.StatIdentified]
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
