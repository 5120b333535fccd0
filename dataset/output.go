package dataset

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// output is the origin of an item that a transform computes.
type output struct {
	making *Making
	name   string
}

// newOutput allocates an item together with its origin.
func newOutput(m *Making, name string) *Item {
	it := &struct {
		Item
		of output
	}{of: output{m, name}}
	it.origin = &it.of
	return &it.Item
}

func (p *output) String() string {
	return fmt.Sprintf("item %s made by node %s", p.name, p.making.Node())
}

// Ref identifies the item by its computation.
func (p *output) Ref(ctx context.Context) (key.Ref, error) {
	a, err := p.making.Action(ctx)
	if err != nil {
		return key.Ref{}, err
	}
	return key.Result(a.Key(), p.name), nil
}

func (p *output) item(ctx context.Context) (*Item, error) {
	defer pool.Wait(ctx)()
	out, err := p.making.sample(ctx)
	if err != nil {
		return nil, err
	}
	return out.Item(p.name)
}

func (p *output) value(ctx context.Context) (any, bool, error) {
	it, err := p.item(ctx)
	if err != nil {
		return nil, false, err
	}
	v, err := it.Value(ctx)
	return v, true, err
}

func (p *output) Ext(ctx context.Context) (string, error) {
	it, err := p.item(ctx)
	if err != nil {
		return "", err
	}
	return it.Ext(ctx)
}

func (p *output) Bytes(ctx context.Context) ([]byte, error) {
	it, err := p.item(ctx)
	if err != nil {
		return nil, err
	}
	return it.Bytes(ctx)
}

func (p *output) Digest(ctx context.Context) (key.Digest, error) {
	it, err := p.item(ctx)
	if err != nil {
		return key.Digest{}, err
	}
	return it.Digest(ctx)
}

// outputs returns the fields of out. Computed items have an output as origin; items that
// were passed on are unchanged.
func (m *Making) outputs(out Sample) []Field {
	fields := slices.Clone(out.fields)
	for i, f := range fields {
		if !slices.ContainsFunc(m.in.fields, func(in Field) bool { return in.Item == f.Item }) {
			fields[i].Item = newOutput(m, f.Key)
		}
	}
	return fields
}

// MakingOf returns the execution that computes the item, if there is one.
func MakingOf(it *Item) (*Making, bool) {
	p, ok := it.origin.(*output)
	if !ok {
		return nil, false
	}
	return p.making, true
}

// Makings returns the executions that compute the items of a sample, each once, in the
// order of the items.
func (s Sample) Makings() []*Making {
	var all []*Making
	for _, f := range s.fields {
		if m, ok := MakingOf(f.Item); ok && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}
