package component

import (
	"context"
	"fmt"
	"reflect"

	"github.com/larder-data/larder/dataset"
)

// Of returns the component for a Go value, and its parameters:
//
//   - the parameter struct of a registered component gives that component;
//   - [Samples] give a source;
//   - a [dataset.Mapper] gives a mapper;
//   - a func(context.Context, []Samples) (Data, error) gives an operator on any number
//     of datasets;
//   - a func(context.Context, Data) error gives a sink.
//
// Components created here have no parameters and are not registered.
func Of(what any) (c *Component, params any, err error) {
	if c := registeredFor(reflect.TypeOf(what)); c != nil {
		return c, what, nil
	}
	c = &Component{Name: fmt.Sprintf("%T", what), Type: reflect.TypeFor[struct{}]()}
	switch what := what.(type) {
	case Samples:
		c.Kind = Source
		c.source = func(context.Context, *Env, any) (Samples, error) { return what, nil }
	case dataset.Mapper:
		c.Kind = Map
		c.mapper = func(*Env, any) (dataset.Mapper, error) { return what, nil }
	case func(context.Context, []Samples) (Data, error):
		c.Kind, c.Many, c.Outs = Op, true, true
		c.op = func(ctx context.Context, _ *Env, _ any, in []Samples) (Data, error) { return what(ctx, in) }
	case func(context.Context, Data) error:
		c.Kind = Sink
		c.sink = func(ctx context.Context, _ *Env, _ any, in Data) error { return what(ctx, in) }
	default:
		return nil, nil, fmt.Errorf("%T is not a component; pass parameters of a registered component, a dataset, a mapper, or a function on datasets", what)
	}
	return c, struct{}{}, nil
}

func registeredFor(t reflect.Type) *Component {
	for _, kind := range Kinds() {
		for _, c := range All(kind) {
			if c.Type == t && t.Name() != "" {
				return c
			}
		}
	}
	return nil
}
