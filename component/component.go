// Package component is the registry of what can be named in a flow.
//
// A [Component] is one thing with a [Kind] and a name: a source reads samples
// from outside, a mapper makes one sample from another, an operator makes
// datasets from datasets, a sink writes them. Its parameters are the fields of a
// struct, each described by tags ([Param]). YAML, Go and the command line get
// components from here, and the documentation and the JSON Schema are made from
// the same registration.
//
// What flows along an edge is [Samples]; what a node puts out is [Data], one
// dataset or several under names. An [Env] is what a component may use beside its
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
// the parameters, before anything else is done with it; what a component is
// given has the type that it registered, and anything else panics.
package component

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
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

// Samples is a dataset of samples, what flows along an edge.
type Samples = dataset.Dataset[dataset.Sample]

// Env is what a component may use beside its parameters.
type Env struct {
	Node    string         // the node's name, for errors
	Dir     string         // relative paths start here
	Larder  *larder.Larder // keeps results; may be nil
	Files   key.Memo       // remembers digests of files; may be nil
	Workers int            // samples at once
	Tally   *dataset.Tally // counts what the node does
	Log     *slog.Logger   // takes warnings
	// Inputs are the folders and files that sources of the flow read: a
	// sink must not write there.
	Inputs []string
	// Mapping says how the node applies a mapper; nil keeps nothing.
	Mapping func(m dataset.Mapper) dataset.MapOptions
}

// MapOptions says how the node applies a mapper, for operators that do.
func (e *Env) MapOptions(m dataset.Mapper) dataset.MapOptions {
	if e.Mapping == nil {
		return dataset.MapOptions{Node: e.Node, Tally: e.Tally}
	}
	return e.Mapping(m)
}

// Path returns p as an absolute path; a relative one starts at the flow's
// folder.
func (e *Env) Path(p Path) string {
	if filepath.IsAbs(string(p)) {
		return filepath.Clean(string(p))
	}
	return filepath.Join(e.Dir, string(p))
}

// A Path is a parameter that names a file or folder.
type Path string

// Data is what a node puts out: one dataset, or several under names.
type Data struct {
	Parts []Samples
	Names []string // as long as Parts; nil for a single dataset
}

// One is the data of a node with a single output.
func One(ds Samples) Data { return Data{Parts: []Samples{ds}} }

// Single returns the only dataset, or an error that lists the outputs.
func (d Data) Single() (Samples, error) {
	if d.Names == nil {
		return d.Parts[0], nil
	}
	return nil, fmt.Errorf("one dataset is needed here, and the input has %d outputs: name one of %v", len(d.Parts), d.Names)
}

// Output returns the output called name, or if none is called so, the one with
// that number, counted from 0.
func (d Data) Output(name string) (Data, error) {
	i, err := d.Find(name)
	if err != nil {
		return Data{}, err
	}
	return One(d.Parts[i]), nil
}

// Find returns which of the parts [Data.Output] returns.
func (d Data) Find(name string) (int, error) {
	if d.Names == nil {
		return 0, fmt.Errorf("the node has a single output; name it without %q", "."+name)
	}
	if i := slices.Index(d.Names, name); i >= 0 {
		return i, nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(d.Names) {
		return i, nil
	}
	return 0, fmt.Errorf("there is no output %q%s", name, Suggest(name, d.Names))
}

// A Component is one registered thing.
type Component struct {
	Kind   Kind
	Name   string
	Doc    string       // one sentence or more, the first a summary
	Params []Param      // in the order of declaration
	Type   reflect.Type // of the parameters: a struct
	Many   bool         // an operator that takes several inputs
	Outs   bool         // an operator that puts out several datasets
	Scans  bool         // an operator that reads all of its input when it is applied
	Maps   bool         // an operator that applies a mapper to samples

	source func(ctx context.Context, env *Env, params any) (Samples, error)
	mapper func(env *Env, params any) (dataset.Mapper, error)
	op     func(ctx context.Context, env *Env, params any, in []Samples) (Data, error)
	sink   func(ctx context.Context, env *Env, params any, in Data) error
	inputs func(env *Env, params any) []string
	order  func(params any, n int) (order.Order, error)
}

// Order returns the order in which an operator that only changes the order reads
// n samples. ok is false for every other component.
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

// Inputs returns the folders and files that a source reads.
func (c *Component) Inputs(env *Env, params any) []string {
	if c.inputs == nil {
		return nil
	}
	return c.inputs(env, params)
}

// RegisterSource registers a source. inputs, which may be nil, lists the
// folders and files that it reads.
func RegisterSource[P any](name, doc string, open func(ctx context.Context, env *Env, p P) (Samples, error), inputs func(env *Env, p P) []string) *Component {
	c := describe[P](Source, name, doc)
	c.source = func(ctx context.Context, env *Env, params any) (Samples, error) { return open(ctx, env, params.(P)) }
	if inputs != nil {
		c.inputs = func(env *Env, params any) []string { return inputs(env, params.(P)) }
	}
	return register(c)
}

// RegisterMapper registers a mapper.
func RegisterMapper[P any](name, doc string, build func(env *Env, p P) (dataset.Mapper, error)) *Component {
	c := describe[P](Map, name, doc)
	c.mapper = func(env *Env, params any) (dataset.Mapper, error) { return build(env, params.(P)) }
	return register(c)
}

// RegisterOp registers an operator on one dataset with one output.
func RegisterOp[P any](name, doc string, apply func(ctx context.Context, env *Env, p P, in Samples) (Samples, error)) *Component {
	c := describe[P](Op, name, doc)
	c.op = func(ctx context.Context, env *Env, params any, in []Samples) (Data, error) {
		out, err := apply(ctx, env, params.(P), in[0])
		return One(out), err
	}
	return register(c)
}

// RegisterOrder registers an operator that only changes the order in which
// samples are read, given as an order over n samples.
func RegisterOrder[P any](name, doc string, build func(p P, n int) (order.Order, error)) *Component {
	c := describe[P](Op, name, doc)
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
	c := describe[P](Op, name, doc)
	c.Outs = true
	c.op = func(ctx context.Context, env *Env, params any, in []Samples) (Data, error) {
		return apply(ctx, env, params.(P), in[0])
	}
	return register(c)
}

// RegisterJoin registers an operator on several datasets with one output.
func RegisterJoin[P any](name, doc string, apply func(ctx context.Context, env *Env, p P, in []Samples) (Samples, error)) *Component {
	c := describe[P](Op, name, doc)
	c.Many = true
	c.op = func(ctx context.Context, env *Env, params any, in []Samples) (Data, error) {
		out, err := apply(ctx, env, params.(P), in)
		return One(out), err
	}
	return register(c)
}

// RegisterSink registers a sink. It is given all outputs of its input.
func RegisterSink[P any](name, doc string, write func(ctx context.Context, env *Env, p P, in Data) error) *Component {
	return register(NewSink(name, doc, write))
}

// NewSink returns a sink that is not registered, for graphs built in Go.
func NewSink[P any](name, doc string, write func(ctx context.Context, env *Env, p P, in Data) error) *Component {
	c := describe[P](Sink, name, doc)
	c.sink = func(ctx context.Context, env *Env, params any, in Data) error { return write(ctx, env, params.(P), in) }
	return c
}

var (
	mu         sync.Mutex
	registered []*Component
	frozen     bool
)

func describe[P any](kind Kind, name, doc string) *Component {
	t := reflect.TypeFor[P]()
	return &Component{Kind: kind, Name: name, Doc: doc, Type: t, Params: paramsOf(t)}
}

func register(c *Component) *Component {
	mu.Lock()
	defer mu.Unlock()
	if frozen {
		panic(fmt.Sprintf("component: %s %s is registered after the registry was read: register from an init function", c.Kind, c.Name))
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

// Find returns the component of a kind and name, or an error with the nearest
// names there are.
func Find(kind Kind, name string) (*Component, error) {
	all := All(kind)
	names := make([]string, len(all))
	for i, c := range all {
		if c.Name == name {
			return c, nil
		}
		names[i] = c.Name
	}
	return nil, fmt.Errorf("there is no %s %q%s", kind, name, Suggest(name, names))
}
