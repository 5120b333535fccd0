package component

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/stream"
)

// Stream is a sequence of samples without random access, as an edge from a source
// without an index carries it: see package stream.
type Stream = stream.Stream[dataset.Sample]

// OfStream returns the data of a node that outputs a stream.
func OfStream(s Stream) Data { return Data{Stream: &s} }

// Streams makes a source output a stream if its parameters ask for one. Opening the
// source reads nothing until the stream is read.
func Streams[P any](c *Component, when func(p P) bool, open func(p P, ctx context.Context, env *Env) (Stream, error)) {
	c.streams = func(params any) bool { return when(params.(P)) }
	c.openStream = func(ctx context.Context, env *Env, params any) (Stream, KeyParts, error) {
		s, err := open(params.(P), ctx, env)
		return s, nil, err
	}
}

// KeyParts describes the content of a stream, as parts of a key: the code that computes
// its elements, and all that this depends on. It computes no element.
type KeyParts func(ctx context.Context) ([]any, error)

// RegisterStream registers a source that always outputs a stream whose elements are not
// identified by files alone. Opening it reads nothing until the stream is read.
func RegisterStream[P any](name, doc string, open func(env *Env, p P) (Stream, KeyParts, error)) *Component {
	c := describe[P](Source, name, doc, open)
	c.streams = func(any) bool { return true }
	c.source = func(context.Context, *Env, any) (Samples, error) {
		return nil, errors.New("the source returns a stream")
	}
	c.openStream = func(_ context.Context, env *Env, params any) (Stream, KeyParts, error) { return open(env, params.(P)) }
	return register(c)
}

// OnStreams makes an operator accept streams, too, and combine them into one. apply
// reads none of them.
func OnStreams[P any](c *Component, apply func(p P, env *Env, in []Stream) (Stream, error)) {
	c.onStreams = func(env *Env, params any, in []Stream) (Stream, error) { return apply(params.(P), env, in) }
}

// RegisterMaterialise registers an operator that makes a dataset of a stream. made
// describes the work of nodes on the stream whose code is known, or returns an error
// that names a node with unknown code.
func RegisterMaterialise[P any](name, doc string, apply func(ctx context.Context, env *Env, p P, in Stream, made func() ([]any, error)) (Samples, error)) *Component {
	c := describe[P](Op, name, doc, apply)
	c.Scans = true
	c.op = func(context.Context, *Env, any, []Samples) (Data, error) {
		return Data{}, errors.New("the input is already a dataset")
	}
	c.materialise = func(ctx context.Context, env *Env, params any, in Stream, made func() ([]any, error)) (Samples, error) {
		return apply(ctx, env, params.(P), in, made)
	}
	return register(c)
}

var (
	// ErrOnce is the error of a stream that can be read only once, so that no key can
	// identify its content.
	ErrOnce = errors.New("the stream can be read only once, and has no key")
	// ErrUnknown is the error of a node whose behaviour no key identifies.
	ErrUnknown = errors.New("no cache key identifies the computation")
)

// IsStream reports whether a source with these parameters outputs a stream.
func (c *Component) IsStream(params any) bool { return c.streams != nil && c.streams(params) }

// TakesStreams reports whether a mapper or an operator can be applied to streams.
func (c *Component) TakesStreams() bool { return c.Kind == Map || c.onStreams != nil }

// Materialises reports whether an operator makes a dataset of a stream.
func (c *Component) Materialises() bool { return c.materialise != nil }

// OpenStream opens a source that outputs a stream. If known is nil, the parameters and
// the files that the source reads identify the content.
func (c *Component) OpenStream(ctx context.Context, env *Env, params any) (s Stream, known KeyParts, err error) {
	return c.openStream(ctx, env, params)
}

// ApplyToStreams applies an operator to streams.
func (c *Component) ApplyToStreams(env *Env, params any, in []Stream) (Stream, error) {
	return c.onStreams(env, params, in)
}

// Materialise makes a dataset of a stream, with an operator that supports it.
func (c *Component) Materialise(ctx context.Context, env *Env, params any, in Stream, made func() ([]any, error)) (Samples, error) {
	return c.materialise(ctx, env, params, in, made)
}

// StandardInput is the path of a source that reads standard input.
const StandardInput = "-"

// Input is a standard input, which can be read once. It is safe for concurrent use.
type Input struct {
	Reader io.Reader
	taken  atomic.Bool
}

var (
	errNoInput = errors.New("standard input is not available; use larder run, with a single reader")
	errTaken   = errors.New("standard input was already read by another node or an earlier run")
)

// Take returns the reader to its first caller, and an error to all others. A nil Input
// has no reader.
func (i *Input) Take() (io.Reader, error) {
	switch {
	case i == nil || i.Reader == nil:
		return nil, errNoInput
	case !i.taken.CompareAndSwap(false, true):
		return nil, errTaken
	}
	return i.Reader, nil
}
