package tfrecord

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/display"
)

func init() {
	component.RegisterSink("tfrecord", "Writes a dataset to a TFRecord file: a tf.train.Example for each sample and a feature for each item. An input with several outputs is written to files NAME.tfrecord in a directory. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the examples to write.
type Sink struct {
	Path         component.Path   `param:"path,required" doc:"the file to write, or for several outputs the directory; also a URL: s3://"`
	Overwrite    output.Overwrite `param:"overwrite,how" doc:"what to do with an existing file: fail (forbid), or replace it (replace)" default:"forbid" enum:"forbid|replace"`
	Compress     rows.Packing     `param:"compress" doc:"none, gzip, zstd or xz; default: by the extension .gz, .zst or .xz" enum:"none|gzip|zstd|xz"`
	ShardBytes   component.Size   `param:"shard-bytes" doc:"maximum size of a file, such as 256MiB: the path is then a directory of files, in which 000000.tfrecord has as many samples as fit, followed by 000001.tfrecord and so on. For files compressed as a whole, bytes are counted before compression"`
	ShardSamples int              `param:"shard-samples" doc:"maximum number of samples in a file; with shard-bytes, the limit that is reached first counts; 0 means no limit" default:"0"`
}

// Delegate returns the files to write.
func (s Sink) Delegate() any { return s.files() }

func (s Sink) files() rows.Sink {
	return rows.Sink{
		Target:   rows.Target{Path: s.Path, Overwrite: s.Overwrite, Ending: ".tfrecord", Shards: rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples}},
		Compress: s.Compress,
		Begin: func(context.Context, string, component.Samples) ([]byte, rows.RowFunc, error) {
			return nil, record, nil
		},
	}
}

// Write writes a dataset. Arrays of integers and booleans become lists of int64, and
// those of float32 lists of floats, whatever their shapes. A number is a list of one,
// and a list of strings is a list of bytes. Strings and other items are their bytes, and
// null is a feature without a value.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	return s.files().Write(ctx, env, in)
}

// record appends the record of a sample.
func record(ctx context.Context, to []byte, s dataset.Sample) ([]byte, error) {
	var all []feature
	for f := range s.Fields() {
		made, err := featureOf(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
		all = append(all, made)
	}
	return framed(to, encodeExample(all)), nil
}

func featureOf(ctx context.Context, f dataset.Field) (made feature, err error) {
	if made.name = f.Key; !utf8.ValidString(f.Key) {
		return made, component.Unfit(errors.New("the name is not UTF-8; rename the item"))
	}
	ext, err := f.Item.Ext(ctx)
	if err != nil {
		return made, err
	}
	if format := dataset.FormatOf(ext); format == "npy" || format == "json" {
		v, err := f.Item.Value(ctx)
		if err != nil {
			return made, err
		}
		if ok, err := made.numbers(v); ok || err != nil {
			return made, err
		}
	}
	b, err := f.Item.Bytes(ctx)
	made.kind, made.texts = ofBytes, [][]byte{b}
	return made, err
}

// numbers sets the list from a value of numbers, if v is one. It refuses numbers that
// the list cannot hold exactly.
func (f *feature) numbers(v any) (ok bool, err error) {
	switch v := v.(type) {
	case int64:
		f.kind, f.ints = ofInts, []int64{v}
	case bool:
		f.kind, f.ints = ofInts, []int64{truth(v)}
	case float64:
		f.kind, f.floats = ofFloats, []float32{float32(v)}
		if float64(float32(v)) != v {
			return false, component.Unfit(fmt.Errorf("%v exceeds float32; convert to a string, or an array of float32", v))
		}
	case *array.Array:
		return f.array(v)
	case nil: // a feature without a value
	case []any:
		return f.listed(v), nil
	default:
		return false, nil
	}
	return true, nil
}

// listed sets the list from a list of strings.
func (f *feature) listed(list []any) bool {
	texts := make([][]byte, len(list))
	for i, v := range list {
		text, ok := v.(string)
		if !ok {
			return false
		}
		texts[i] = []byte(text)
	}
	f.kind, f.texts = ofBytes, texts
	return true
}

func truth(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// array sets the list from the elements of an array.
func (f *feature) array(a *array.Array) (ok bool, err error) {
	word := a.DType.Word()
	n := 0
	if word > 0 {
		n = len(a.Data) / word
	}
	at := func(i int) []byte { return a.Data[i*word:] }
	little := binary.LittleEndian
	switch a.DType {
	case array.Float32:
		f.kind, f.floats = ofFloats, make([]float32, n)
		for i := range f.floats {
			f.floats[i] = math.Float32frombits(little.Uint32(at(i)))
		}
		return true, nil
	case array.Bool, array.Uint8:
		return f.whole(n, func(i int) int64 { return int64(at(i)[0]) })
	case array.Int8:
		return f.whole(n, func(i int) int64 { return int64(int8(at(i)[0])) })
	case array.Int16:
		return f.whole(n, func(i int) int64 { return int64(int16(little.Uint16(at(i)))) })
	case array.Uint16:
		return f.whole(n, func(i int) int64 { return int64(little.Uint16(at(i))) })
	case array.Int32:
		return f.whole(n, func(i int) int64 { return int64(int32(little.Uint32(at(i)))) })
	case array.Uint32:
		return f.whole(n, func(i int) int64 { return int64(little.Uint32(at(i))) })
	case array.Int64:
		return f.whole(n, func(i int) int64 { return int64(little.Uint64(at(i))) })
	}
	return false, component.Unfit(fmt.Errorf("an array of %v cannot be a feature; convert to int64 or float32", a.DType))
}

func (f *feature) whole(n int, at func(i int) int64) (bool, error) {
	f.kind, f.ints = ofInts, make([]int64, n)
	for i := range f.ints {
		f.ints[i] = at(i)
	}
	return true, nil
}
