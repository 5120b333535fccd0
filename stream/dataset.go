package stream

import (
	"context"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/internal/text/display"
)

// FromDataset returns a stream of the elements of a dataset, in order. Its state is the
// index of the next one, and it seeks. identity identifies the content of the dataset,
// for example [dataset.Fingerprint]; "" means unknown.
func FromDataset[T any](ds dataset.Dataset[T], identity string) Stream[T] {
	return Stream[T]{&listNode[T]{name: "dataset", identity: identity, len: ds.Len(), step: 1, at: ds.At}}
}

// SampleCodec encodes samples with the bytes of their items, which it reads. Nothing is
// lost, because the value of an item is what its bytes decode to.
var SampleCodec = &codec.Value[dataset.Sample]{
	ID: sampleFormat, Type: xxh3.HashString(sampleFormat), Encode: encodeSample, Decode: decodeSample, Aliases: true,
}

const sampleFormat = "larder sample 1: " + records.Format

// codecFor returns the default codec of elements.
func codecFor[T any]() (*codec.Value[T], error) {
	if c, ok := any(SampleCodec).(*codec.Value[T]); ok {
		return c, nil
	}
	return codec.For[T]()
}

func encodeSample(dst []byte, s dataset.Sample) ([]byte, error) {
	ctx := context.Background() // reads whole files immediately
	items := make([]records.Item, 0, s.Len())
	for f := range s.Fields() {
		it := records.Item{Key: f.Key, Shared: f.Shared}
		var err error
		if it.Ext, err = f.Item.Ext(ctx); err == nil {
			it.Bytes, err = f.Item.Bytes(ctx)
		}
		if err == nil && int64(len(it.Bytes)) > records.MaxBytes {
			err = errors.New("it has more bytes than can be cached of one item")
		}
		if err != nil {
			return nil, &ItemError{f.Key, err}
		}
		items = append(items, it)
	}
	return append(dst, records.Encode(items)...), nil
}

// An ItemError says which item of a sample caused an error.
type ItemError struct {
	Key string
	Err error
}

func (e *ItemError) Error() string { return "item " + display.Name(e.Key) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ItemError) Unwrap() error { return e.Err }

func decodeSample(b []byte) (dataset.Sample, error) {
	items, err := records.Decode(b)
	if err != nil {
		return dataset.Sample{}, err
	}
	fields := make([]dataset.Field, len(items))
	for i, it := range items {
		fields[i] = dataset.Field{Key: it.Key, Item: dataset.NewBytes(it.Ext, it.Bytes), Shared: it.Shared}
	}
	return dataset.NewSample(fields...), nil
}
