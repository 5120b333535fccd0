package component

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

// RegisterSource registers a source. Its inputs are its parameters of type [Path], or
// what these list as a [Reader].
func RegisterSource[P any](name, doc string, open func(ctx context.Context, env *Env, p P) (Samples, error)) *Component {
	c := describe[P](Source, name, doc, open)
	c.source = func(ctx context.Context, env *Env, params any) (Samples, error) { return open(ctx, env, params.(P)) }
	return register(c)
}

// RegisterMapper registers a mapper.
func RegisterMapper[P any](name, doc string, build func(env *Env, p P) (dataset.Mapper, error)) *Component {
	c := describe[P](Map, name, doc, build)
	c.mapper = func(env *Env, params any) (dataset.Mapper, error) { return build(env, params.(P)) }
	return register(c)
}

// RegisterOp registers an operator on one dataset with one output.
func RegisterOp[P any](name, doc string, apply func(ctx context.Context, env *Env, p P, in Samples) (Samples, error)) *Component {
	c := describe[P](Op, name, doc, apply)
	c.op = func(ctx context.Context, env *Env, params any, in []Samples) (Data, error) {
		out, err := apply(ctx, env, params.(P), in[0])
		return One(out), err
	}
	return register(c)
}

// RegisterOrder registers an operator that only changes the order in which samples are
// read, given as an order over n samples.
func RegisterOrder[P any](name, doc string, build func(p P, n int) (order.Order, error)) *Component {
	c := describe[P](Op, name, doc, build)
	c.order = func(params any, n int) (order.Order, error) { return build(params.(P), n) }
	c.op = func(_ context.Context, _ *Env, params any, in []Samples) (Data, error) {
		o, err := c.order(params, in[0].Len())
		if err != nil {
			return Data{}, err
		}
		return One(dataset.Reorder(in[0], o)), nil
	}
	return register(c)
}

// RegisterParts registers an operator on one dataset with several outputs.
func RegisterParts[P any](name, doc string, apply func(ctx context.Context, env *Env, p P, in Samples) (Data, error)) *Component {
	c := describe[P](Op, name, doc, apply)
	c.Outs = true
	c.op = func(ctx context.Context, env *Env, params any, in []Samples) (Data, error) {
		return apply(ctx, env, params.(P), in[0])
	}
	return register(c)
}

// RegisterJoin registers an operator on several datasets with one output.
func RegisterJoin[P any](name, doc string, apply func(ctx context.Context, env *Env, p P, in []Samples) (Samples, error)) *Component {
	c := describe[P](Op, name, doc, apply)
	c.Many = true
	c.op = func(ctx context.Context, env *Env, params any, in []Samples) (Data, error) {
		out, err := apply(ctx, env, params.(P), in)
		return One(out), err
	}
	return register(c)
}

// RegisterSink registers a sink. It receives all outputs of its input node. Its outputs
// are its parameters of type [Path], or what these list as a [Writer].
func RegisterSink[P any](name, doc string, write func(ctx context.Context, env *Env, p P, in Data) error) *Component {
	return register(NewSink(name, doc, write))
}

// NewSink returns a sink that is not registered, for graphs built in Go.
func NewSink[P any](name, doc string, write func(ctx context.Context, env *Env, p P, in Data) error) *Component {
	c := describe[P](Sink, name, doc, write)
	c.sink = func(ctx context.Context, env *Env, params any, in Data) error { return write(ctx, env, params.(P), in) }
	return c
}

// The registry.
var (
	mu         sync.Mutex
	registered []*Component
	frozen     bool // it was read, and is sorted
)

// describe returns a component without a function, with parameters from the fields of
// P.
func describe[P any](kind Kind, name, doc string, function any) *Component {
	t := reflect.TypeFor[P]()
	return &Component{Kind: kind, Name: name, Doc: doc, Type: t, Params: paramsOf(t), function: function}
}

func register(c *Component) *Component {
	mu.Lock()
	defer mu.Unlock()
	if frozen {
		panic(fmt.Sprintf("component: %s %s is registered after the first use of the registry; register from an init function", c.Kind, c.Name))
	}
	for _, have := range registered {
		if have.Kind == c.Kind && have.Name == c.Name {
			panic(fmt.Sprintf("component: %s %s is registered twice", c.Kind, c.Name))
		}
	}
	registered = append(registered, c)
	return c
}

// All lists the components of a kind, by name.
func All(kind Kind) []*Component {
	mu.Lock()
	defer mu.Unlock()
	if !frozen {
		frozen = true
		slices.SortFunc(registered, func(a, b *Component) int {
			return strings.Compare(a.Name, b.Name)
		})
	}
	var all []*Component
	for _, c := range registered {
		if c.Kind == kind {
			all = append(all, c)
		}
	}
	return all
}

// IsRegistered reports whether the component can be named. Its behaviour is then
// identified by its name, the parameters and the program. Components created from Go
// values are not registered.
func (c *Component) IsRegistered() bool { return slices.Contains(All(c.Kind), c) }

// Find returns the component of a kind and name, or an error with the nearest names.
func Find(kind Kind, name string) (*Component, error) {
	all := All(kind)
	names := make([]string, len(all))
	for i, c := range all {
		if c.Name == name {
			return c, nil
		}
		names[i] = c.Name
	}
	for _, other := range Kinds() {
		if slices.ContainsFunc(All(other), func(c *Component) bool { return c.Name == name }) {
			return nil, fmt.Errorf("unknown %s %q; %[2]q is a %[3]s", kind, name, other)
		}
	}
	return nil, fmt.Errorf("there is no %s %q%s", kind, name, Suggest(name, names))
}
