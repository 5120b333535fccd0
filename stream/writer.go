package stream

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/larder-data/larder"
)

// A writer reads the stream until all steps are stored.
type writer[T any] struct {
	*material[T]
	reader *Reader[T]
	next   int    // the next chunk of reader
	state  string // before the requested chunk
}

func (w *writer[T]) step(ctx context.Context, i int) (step, error) {
	a, err := w.action("step", i)
	if err != nil {
		return step{}, err
	}
	return larder.Do(ctx, w.larder, a, func(ctx context.Context) (s step, err error) {
		if err := w.seek(ctx, i); err != nil {
			return s, err
		}
		all, end, err := w.read(ctx)
		if err != nil {
			return s, err
		}
		retained, err := w.chunk(ctx, i, func(context.Context) ([]T, error) { return all, nil })
		if err == nil && len(retained) != len(all) {
			err = fmt.Errorf("stream: chunk %d has %d elements, but had %d; the stream changed: materialise it under another Key", i, len(all), len(retained))
		}
		w.next++
		return step{len(all), w.reader.State().String(), end}, err
	})
}

// seek opens the stream before a chunk, unless the reader is there.
func (w *writer[T]) seek(ctx context.Context, i int) error {
	if w.next == i {
		return nil
	}
	from, err := ParseState(w.state)
	if err != nil {
		return err
	}
	w.close()
	w.reader, err = w.stream.Open(context.WithoutCancel(ctx), from) // the calls have contexts
	w.next = i
	return err
}

// read reads a chunk.
func (w *writer[T]) read(ctx context.Context) (all []T, end bool, err error) {
	bytes := 0
	for len(all) < w.keep.Chunk && bytes < chunkBytes {
		v, err := w.reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, true, nil
		}
		if err != nil {
			return nil, false, err
		}
		b, err := w.keep.Codec.Encode(nil, v)
		if err != nil {
			return nil, false, err
		}
		bytes += len(b)
		all = append(all, v)
	}
	return all, false, nil
}

func (w *writer[T]) close() {
	if w.reader != nil {
		w.reader.Close()
	}
}
