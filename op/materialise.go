package op

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/stream"
)

func init() {
	component.RegisterMaterialise("materialise", "Reads a stream once, to its end, and caches its samples as a dataset. An interrupted run resumes, if the stream can be read again.",
		func(ctx context.Context, env *component.Env, p Materialise, in component.Stream, made func() ([]any, error)) (component.Samples, error) {
			return p.Apply(ctx, env, in, made)
		})
}

// Materialise makes a dataset of a stream.
type Materialise struct {
	Key string `param:"key" doc:"identifies the content of a stream that cannot be read again, such as \"feed of 3 May\": later runs use the cached samples instead of the stream. Without it, each run reads the stream"`
}

// Apply implements the operator. Its key covers the work of other nodes on the stream
// and the content of the files that it reads. A stream that cannot be read again gets a
// new key each time, unless the user gives one.
func (m Materialise) Apply(ctx context.Context, env *component.Env, in component.Stream, made func() ([]any, error)) (component.Samples, error) {
	if env.Larder == nil {
		return nil, errors.New("no cache is open to store the samples in")
	}
	parts, err := made()
	text := m.Key
	switch {
	case m.Key == "" && errors.Is(err, component.ErrOnce):
		text = "once: " + rand.Text()
	case m.Key == "" && errors.Is(err, component.ErrUnknown):
		return nil, fmt.Errorf("%w; give key, and change it when the stream changes", err)
	case err != nil && !errors.Is(err, component.ErrOnce) && !errors.Is(err, component.ErrUnknown):
		return nil, err
	}
	d, err := key.Of(append(parts, m.Key != "", text))
	if err != nil {
		return nil, err
	}
	return stream.Materialise(ctx, env.Larder, in, stream.MaterialiseOptions[dataset.Sample]{Key: d.String()})
}
