// Package component is the registry of what can be named in a flow.
//
// A [Component] is one thing with a [Kind] and a name: a source reads samples
// from outside, a mapper makes one sample from another, an operator makes
// datasets from datasets, a sink writes them. Its parameters are the fields of a
// struct, each described by tags ([Param]). YAML, Go and the command line get
// components from here, and the documentation and the JSON Schema are made from
// the same registration.
//
// What flows along an edge is [Samples], or a [Stream] of them; what a node puts out is
// [Data], one dataset, several under names, or a stream. An [Env] is what a component may use beside its
// parameters: the place where paths start, the cache, counters, a log. A [Step]
// is a mapper as the parameter of another component.
//
// Components register from init functions, which may set more about what they
// registered; the registry is frozen when it is first read, and registering
// later, or twice, panics. A program that registers its own before it calls the
// command line's main function has them everywhere. [Of] makes components of
// datasets, mappers and functions that are given in Go.
//
// Once frozen, components do not change and may be used by many goroutines. A
// parameter struct with a method Check() error has it called, by whoever reads
// the parameters, before anything else is done with it; one with a method Inputs
// or Outputs says what is read ([Reader]) or written ([Writer]) where its paths
// do not. What a component is
// given has the type that it registered, and anything else panics.
package component

import (
	"context"
	"reflect"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

// A Kind is what a component is: the word that names it in a flow file.
type Kind string

// The kinds.
const (
	Source Kind = "source"
	Map    Kind = "map"
	Op     Kind = "op"
	Sink   Kind = "sink"
)

// Kinds lists the kinds in the order of a flow.
func Kinds() []Kind { return []Kind{Source, Map, Op, Sink} }

// A Component is one registered thing.
type Component struct {
	Kind   Kind
	Name   string
	Doc    string       // one sentence or more, the first a summary
	Params []Param      // in the order of declaration
	Type   reflect.Type // of the parameters: a struct
	Many   bool         // an operator that takes several inputs
	Outs   bool         // an operator that puts out several datasets
	Scans  bool         // an operator that always reads all of its input when it is applied; see Scanner
	Maps   bool         // an operator that applies a mapper to samples
	Images bool         // a mapper that decodes images, which is most of its work

	source func(ctx context.Context, env *Env, params any) (Samples, error)
	mapper func(env *Env, params any) (dataset.Mapper, error)
	op     func(ctx context.Context, env *Env, params any, in []Samples) (Data, error)
	sink   func(ctx context.Context, env *Env, params any, in Data) error
	order  func(params any, n int) (order.Order, error)

	streams     func(params any) bool
	openStream  func(ctx context.Context, env *Env, params any) (Stream, Known, error)
	onStreams   func(env *Env, params any, in []Stream) (Stream, error)
	materialise func(ctx context.Context, env *Env, params any, in Stream, made func() ([]any, error)) (Samples, error)

	function any // that was registered
}

// A Scanner is a parameter struct of an operator that reads all of its input when it is
// applied with some parameters, and with others does not.
type Scanner interface {
	Scans() bool
}

// ScansFor reports whether an operator with these parameters reads all of its input
// when it is applied.
func (c *Component) ScansFor(params any) bool {
	s, ok := params.(Scanner)
	return c.Scans || ok && s.Scans()
}

// Function returns the Go function that was registered, by which the component's
// code is known; nil for one that was made by [Of].
func (c *Component) Function() any { return c.function }

// Order returns the order in which an operator that only changes the order reads
// n samples. ok is false for every other component, and for parameters that fit
// no n samples.
func (c *Component) Order(params any, n int) (o order.Order, ok bool) {
	if c.order == nil {
		return nil, false
	}
	o, err := c.order(params, n)
	return o, err == nil
}

// OpenSource opens a source.
func (c *Component) OpenSource(ctx context.Context, env *Env, params any) (Samples, error) {
	return c.source(ctx, env, params)
}

// Mapper makes a mapper.
func (c *Component) Mapper(env *Env, params any) (dataset.Mapper, error) {
	return c.mapper(env, params)
}

// Apply applies an operator.
func (c *Component) Apply(ctx context.Context, env *Env, params any, in []Samples) (Data, error) {
	return c.op(ctx, env, params, in)
}

// Write runs a sink.
func (c *Component) Write(ctx context.Context, env *Env, params any, in Data) error {
	return c.sink(ctx, env, params, in)
}
