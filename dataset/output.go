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
	execution *Execution
	name      string
}

// newOutput allocates an item together with its origin.
func newOutput(e *Execution, name string) *Item {
	it := &struct {
		Item
		of output
	}{of: output{e, name}}
	it.origin = &it.of
	return &it.Item
}

func (p *output) String() string {
	return fmt.Sprintf("item %s of node %s", p.name, p.execution.Node())
}

// Ref identifies the item by its computation.
func (p *output) Ref(ctx context.Context) (key.Ref, error) {
	a, err := p.execution.Action(ctx)
	if err != nil {
		return key.Ref{}, err
	}
	return key.Result(a.Key(), p.name), nil
}

func (p *output) item(ctx context.Context) (*Item, error) {
	defer pool.Wait(ctx)()
	out, err := p.execution.sample(ctx)
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
func (e *Execution) outputs(out Sample) []Field {
	fields := slices.Clone(out.fields)
	for i, f := range fields {
		if !slices.ContainsFunc(e.in.fields, func(in Field) bool { return in.Item == f.Item }) {
			fields[i].Item = newOutput(e, f.Key)
		}
	}
	return fields
}

// ExecutionOf returns the execution that computes the item, if there is one.
func ExecutionOf(it *Item) (*Execution, bool) {
	p, ok := it.origin.(*output)
	if !ok {
		return nil, false
	}
	return p.execution, true
}

// Executions returns the executions that compute the items of a sample, each once, in the
// order of the items.
func (s Sample) Executions() []*Execution {
	var all []*Execution
	for _, f := range s.fields {
		if e, ok := ExecutionOf(f.Item); ok && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}
