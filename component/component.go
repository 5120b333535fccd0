// Package component provides the registry of the components that flows can name.
//
// A [Component] has a [Kind] and a name: a source reads samples from outside, a mapper
// computes one sample from another, an operator computes datasets from datasets, a sink
// writes them. Its parameters are the fields of a struct, each described by tags
// ([Param]). YAML, Go, the command line, the documentation and the JSON Schema all use
// this registration.
//
// An edge carries [Samples], or a [Stream] of them. A node outputs [Data]: one dataset,
// several named datasets, or a stream. An [Env] is what a component may use besides its
// parameters: the directory for relative paths, the cache, counters, a log. A [Step] is
// a mapper as the parameter of another component.
//
// Components register in init functions, which may change what they registered. The
// first read freezes the registry; registering later, or twice, panics. A program that
// registers its own components before it calls the main function of the command line
// can use them everywhere. [Of] creates components from datasets, mappers and functions
// given in Go.
//
// Once frozen, components are immutable and safe for concurrent use. If a parameter
// struct has a method Check() error, the reader of the parameters calls it before using
// them. If it has a method Inputs or Outputs, this says what is read ([Reader]) or
// written ([Writer]) in place of its paths. Parameters must have the registered type;
// any other type panics.
package component

import (
	"context"
	"reflect"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

// A Kind is the kind of a component: its name in a flow file.
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

// A Component is a registered source, mapper, operator or sink.
type Component struct {
	Kind   Kind
	Name   string
	Doc    string       // one or more sentences, the first a summary
	Params []Param      // in the order of declaration
	Type   reflect.Type // of the parameters: a struct
	Many   bool         // an operator with several inputs
	Outs   bool         // an operator with several output datasets
	Scans  bool         // an operator that always reads all of its input when applied; see Scanner
	Maps   bool         // an operator that applies a mapper to samples
	Images bool         // a mapper whose work is mostly decoding images

	source func(ctx context.Context, env *Env, params any) (Samples, error)
	mapper func(env *Env, params any) (dataset.Mapper, error)
	op     func(ctx context.Context, env *Env, params any, in []Samples) (Data, error)
	sink   func(ctx context.Context, env *Env, params any, in Data) error
	order  func(params any, n int) (order.Order, error)

	streams     func(params any) bool
	openStream  func(ctx context.Context, env *Env, params any) (Stream, KeyParts, error)
	onStreams   func(env *Env, params any, in []Stream) (Stream, error)
	materialise func(ctx context.Context, env *Env, params any, in Stream, made func() ([]any, error)) (Samples, error)

	function any // that was registered
}

// A Scanner is a parameter struct of an operator that reads all of its input when
// applied, but only with some parameters.
type Scanner interface {
	Scans() bool
}

// ScansFor reports whether an operator with these parameters reads all of its input
// when applied.
func (c *Component) ScansFor(params any) bool {
	s, ok := params.(Scanner)
	return c.Scans || ok && s.Scans()
}

// Function returns the registered Go function, which identifies the component's code.
// It is nil for components created by [Of].
func (c *Component) Function() any { return c.function }

// Order returns the order in which a reordering operator reads n samples. ok is false
// for every other component, and for parameters that do not fit n samples.
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
