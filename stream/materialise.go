package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// MaterialiseOptions configures [Materialise].
type MaterialiseOptions[T any] struct {
	// Key identifies the content of the stream. Cached elements with the same key,
	// operators and parameters are used for this stream. It may be empty if all sources
	// have identities and no operator has a function, because the stream is its own key
	// then.
	Key string
	// Codec encodes elements; nil means codec.For[T], and [SampleCodec] for samples.
	Codec *codec.Value[T]
	// Chunk is the largest number of elements of a record; 0 means 1024. A record also ends
	// with the element that takes it above 4 MiB.
	Chunk int
}

const (
	defaultChunk = 1024
	chunkBytes   = 4 << 20
)

// ErrNoKey is the error of a stream whose content nothing identifies.
var ErrNoKey = errors.New("set Keeping.Key to identify the content, and change it when the content changes")

// Materialise returns a stream as a dataset with random access. It reads the stream once
// and caches its elements in the store of l, in chunks. After an interruption it
// continues behind the last chunk; a complete stream is not read again. Evicted elements
// are computed again, from the state before them. The dataset may be used by many
// goroutines; its elements are shared and must not be changed.
func Materialise[T any](ctx context.Context, l *larder.Larder, s Stream[T], k MaterialiseOptions[T]) (dataset.Dataset[T], error) {
	sh := shapeOf(s)
	if sh.err != nil {
		return nil, sh.err
	}
	if k.Key == "" && len(sh.unknown) > 0 {
		return nil, fmt.Errorf("stream: the stream depends on %s, which cannot be keyed; %w", sh.unknown[0], ErrNoKey)
	}
	if k.Chunk == 0 {
		k.Chunk = defaultChunk
	}
	if k.Chunk < 0 {
		return nil, fmt.Errorf("stream: a chunk cannot have %d elements", k.Chunk)
	}
	if k.Codec == nil {
		var err error
		if k.Codec, err = codecFor[T](); err != nil {
			return nil, fmt.Errorf("stream: elements cannot be cached: %w", err)
		}
	}
	m := &material[T]{stream: s, larder: l, keep: k, chunks: chunkCodec(k.Codec), shape: strings.Join(sh.lines, "\n")}
	if err := m.index(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// material is a stream that was read to its end.
type material[T any] struct {
	stream Stream[T]
	larder *larder.Larder
	keep   MaterialiseOptions[T]
	chunks *codec.Value[[]T]
	shape  string
	steps  []step
	ends   []int // for each chunk, the number of elements up to its end
}

// A step is a chunk without its elements.
type step struct {
	Count int
	State string // after it
	End   bool   // the stream ends with it
}

// action identifies a record of the stream: a chunk by number, a step by number, or all
// steps.
func (m *material[T]) action(what string, i int) (*key.Action, error) {
	return key.NewAction("stream "+what, key.Version("1"), m.keep.Key, m.shape, m.keep.Codec.ID, m.keep.Chunk, i)
}

// index finds all steps, and computes missing ones.
func (m *material[T]) index(ctx context.Context) error {
	a, err := m.action("index", 0)
	if err != nil {
		return err
	}
	w := &writer[T]{material: m, next: -1}
	defer w.close()
	m.steps, err = larder.Do(ctx, m.larder, a, func(ctx context.Context) (all []step, err error) {
		for i := 0; ; i++ {
			s, err := w.step(ctx, i)
			if err != nil {
				return nil, err
			}
			all, w.state = append(all, s), s.State
			if s.End {
				return all, nil
			}
		}
	})
	n := 0
	for _, s := range m.steps {
		n += s.Count
		m.ends = append(m.ends, n)
	}
	return err
}

// Len implements dataset.Dataset.
func (m *material[T]) Len() int {
	if len(m.ends) == 0 {
		return 0
	}
	return m.ends[len(m.ends)-1]
}

// At implements dataset.Dataset.
func (m *material[T]) At(ctx context.Context, i int) (v T, err error) {
	if i < 0 || i >= m.Len() {
		return v, &dataset.IndexError{Index: i, Len: m.Len()}
	}
	k := sort.SearchInts(m.ends, i+1)
	chunk, err := m.chunk(ctx, k, func(ctx context.Context) ([]T, error) { return m.again(ctx, k) })
	if err != nil {
		return v, err
	}
	at := i - (m.ends[k] - m.steps[k].Count)
	if at >= len(chunk) {
		return v, fmt.Errorf("stream: chunk %d has %d elements, but had %d; the stream changed: materialise it under another Key", k, len(chunk), m.steps[k].Count)
	}
	return chunk[at], nil
}

// chunk returns the elements of a chunk.
func (m *material[T]) chunk(ctx context.Context, k int, compute func(context.Context) ([]T, error)) ([]T, error) {
	a, err := m.action("chunk", k)
	if err != nil {
		return nil, err
	}
	r, err := larder.Call[[]T]{Action: a, Compute: compute, Value: m.chunks, Share: true}.Do(ctx, m.larder)
	return r.Value, err
}

// again computes an evicted chunk.
func (m *material[T]) again(ctx context.Context, k int) (all []T, err error) {
	var from State
	if k > 0 {
		if from, err = ParseState(m.steps[k-1].State); err != nil {
			return nil, err
		}
	}
	r, err := m.stream.Open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for range m.steps[k].Count {
		v, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			err = errBeyond
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
