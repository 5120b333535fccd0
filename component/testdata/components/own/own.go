// Package own has transforms and a codec as users write them.
package own

import (
	"context"
	"embed"
	"fmt"
	"image/color"
	"strconv"
	"time"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files)

// Transforms are transforms by name, that are given a number.
var Transforms = map[string]func(by int) (dataset.Transform, error){
	"plain":     plain,
	"version":   version,
	"black":     black,
	"clock":     clock,
	"functions": func(by int) (dataset.Transform, error) { return functions(func(n int) int { return n * by }) },
	"typed":     typed,
	"area":      area,
	"label":     label,
	"given":     given,
	"constant":  func(int) (dataset.Transform, error) { return constant() },
}

func plain(by int) (dataset.Transform, error) {
	table := tableOf(by)
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "plain", Params: []key.Param{{Name: "by", Value: by}}, In: []string{"n"}, Out: []string{"made"}, Formats: []string{"json"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			v, err := s.Value(ctx, "n")
			n, _ := v.(int64)
			return made(table[n%4]), err
		},
	})
}

// tableOf is called by what makes a transform, and not by the transform.
func tableOf(by int) [4]int64 {
	return [4]int64{0, int64(by), 2 * int64(by), 3 * int64(by)}
}

func made(n int64) dataset.Sample {
	return dataset.NewSample(dataset.Field{Key: "made", Item: dataset.NewItem("json", scaled(n))})
}

func scaled(n int64) int64 { return 10 * n }

func version(int) (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "version", Code: key.Version("1"), Out: []string{"made"}, Formats: []string{},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) { return made(2), nil },
	})
}

// black reads a variable of the standard library.
func black(int) (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "black", Out: []string{"made"}, Formats: []string{"json"},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
			grey, _, _, _ := color.Black.RGBA()
			return made(int64(grey)), nil
		},
	})
}

func clock(int) (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "clock", Out: []string{"made"},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) { return made(time.Now().Unix()), nil },
	})
}

// functions is given a function, of which nobody says which it is.
func functions(f func(int) int) (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "functions", Out: []string{"made"}, Formats: []string{"json"},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) { return made(int64(f(2))), nil },
	})
}

// given is given one, too, and says which.
func given(by int) (dataset.Transform, error) {
	return passing(func(n int) int { return n * halves(by) })
}

func halves(n int) int { return n / 2 }

func passing(f func(int) int) (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "given", Out: []string{"made"}, Formats: []string{"json"}, FuncArgs: []any{f},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) { return made(int64(f(2))), nil },
	})
}

type in struct {
	N int `item:"n"`
}

type out struct {
	Made int `item:"made" ext:"json"`
}

func typed(by int) (dataset.Transform, error) {
	return dataset.NewTyped("typed", key.Code{}, func(_ context.Context, v in) (out, error) {
		return out{v.N * squared(by)}, nil
	}, key.Param{Name: "by", Value: by})
}

func squared(n int) int { return n * n }

func constant() (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "constant", Out: []string{"made"}, Formats: []string{},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
			return dataset.Sample{}, fmt.Errorf("never")
		},
	})
}

func init() {
	codec.Register(codec.Codec{
		Name: "twice", Extensions: []string{"twice"}, Lossless: true,
		Decode: func(b []byte) (any, error) {
			n, err := strconv.ParseInt(string(b), 10, 64)
			return n * times, err
		},
		Encode: func(v any) ([]byte, error) { return fmt.Appendf(nil, "%d", v.(int64)/times), nil },
	})
}

// A shape is measured by a method that no other package can name.
type shape interface{ area() int64 }

type square struct{ side int64 }

func (s square) area() int64 { return s.side * s.side }

// area reads what a codec returns, by a method.
func area(int) (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "area", In: []string{"n"}, Out: []string{"made"}, Formats: []string{"json"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			v, err := s.Value(ctx, "n")
			if err != nil {
				return dataset.Sample{}, err
			}
			return made(v.(shape).area()), nil
		},
	})
}

type named struct{ n int }

func (n named) text() string { return fmt.Sprint("number ", n.n) }

// label makes what a codec writes, by a method.
func label(by int) (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "label", Out: []string{"made"}, Formats: []string{"label"},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
			return dataset.NewSample(dataset.Field{Key: "made", Item: dataset.NewItem("label", named{2})}), nil
		},
	})
}

func init() {
	codec.Register(codec.Codec{
		Name: "square", Extensions: []string{"square"},
		Decode: func(b []byte) (any, error) { return square{int64(len(b))}, nil },
	})
	codec.Register(codec.Codec{
		Name: "label", Extensions: []string{"label"},
		Decode: func(b []byte) (any, error) { return string(b), nil },
		Encode: func(v any) ([]byte, error) { return []byte(v.(interface{ text() string }).text()), nil },
	})
}

const times = 2
