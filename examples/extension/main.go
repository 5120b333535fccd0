// Weather is larder with six extensions: a codec, a source, a mapper, an operator, a
// sink and a cache policy. Each is registered from an init function, and available in
// every command like the built-in ones.
package main

import (
	"bufio"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/cli"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
)

//go:embed *.go
var files embed.FS

// The sources identify the code here: an edit invalidates the results of the functions
// that reach the edited code, and no others.
var _ = codeid.Register(files)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }

// A codec: files with the extension celsius, "21.5 C", decode to a Celsius.

// Celsius is a temperature in degrees.
type Celsius float64

func (c Celsius) String() string { return fmt.Sprintf("%v C", float64(c)) }

func init() {
	codec.Register(codec.Codec{
		Name: "celsius", Extensions: []string{"celsius"}, Lossless: true,
		Decode: func(b []byte) (any, error) {
			digits, ok := strings.CutSuffix(strings.TrimSpace(string(b)), " C")
			degrees, err := strconv.ParseFloat(digits, 64)
			if !ok || err != nil {
				return nil, fmt.Errorf("%.20q is not a temperature such as 21.5 C", b)
			}
			return Celsius(degrees), nil
		},
		Encode: func(v any) ([]byte, error) {
			degrees, ok := v.(Celsius)
			if !ok {
				return nil, fmt.Errorf("a %T is not a temperature", v)
			}
			return []byte(degrees.String()), nil
		},
	})
}

// A source: each line of a file, a day and a temperature, is a sample.

// Station is a file of lines like "2024-07-01 21.5 C".
type Station struct {
	Path component.Path `param:"path,required" doc:"the file"`
}

func init() {
	component.RegisterSource("station", "Reads a file of days and temperatures, a sample a line.", openStation)
}

func openStation(_ context.Context, env *component.Env, p Station) (component.Samples, error) {
	f, err := os.Open(env.Path(p.Path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var samples []dataset.Sample
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		day, reading, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no temperature", p.Path, len(samples)+1)
		}
		samples = append(samples, dataset.NewSample(
			dataset.Field{Key: "day", Item: dataset.NewBytes("txt", []byte(day))},
			dataset.Field{Key: "reading", Item: dataset.NewBytes("celsius", []byte(reading))},
		))
	}
	return dataset.List(samples...), lines.Err()
}

// A mapper: it declares what it reads and computes, so its results can be cached.

// Fahrenheit converts temperatures.
type Fahrenheit struct {
	Digits int `param:"digits" doc:"digits behind the point" default:"1"`
}

func init() {
	component.RegisterMapper("fahrenheit", "Makes an item with the temperature in Fahrenheit.", toFahrenheit)
}

func toFahrenheit(_ *component.Env, p Fahrenheit) (dataset.Mapper, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "fahrenheit", Formats: []string{"txt"},
		Params: []key.Param{{Name: "digits", Value: p.Digits}},
		In:     []string{"reading"}, Out: []string{"fahrenheit"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			v, err := s.Value(ctx, "reading")
			if err != nil {
				return dataset.Sample{}, err
			}
			degrees, ok := v.(Celsius)
			if !ok {
				return dataset.Sample{}, fmt.Errorf("reading is a %T, not a temperature", v)
			}
			text := strconv.FormatFloat(float64(degrees)*9/5+32, 'f', p.Digits, 64) + " F"
			return dataset.NewSample(dataset.Field{Key: "fahrenheit", Item: dataset.NewItem("txt", text)}), nil
		},
	})
}

// An operator that only changes the order, so caches know the order of reads.

// Every passes on every N-th sample.
type Every struct {
	N int `param:"n,required" doc:"distance between samples"`
}

func init() {
	component.RegisterOrder("every", "Passes on every n-th sample.", Every.order)
}

// Check is called before anything runs.
func (p Every) Check() error {
	if p.N < 1 {
		return fmt.Errorf("n is %d and must be at least 1", p.N)
	}
	return nil
}

func (p Every) order(n int) (order.Order, error) { return order.Slice(n, nil, nil, &p.N) }

// A sink: it writes one text file, complete or not at all.

// Table is a file with a line for each day.
type Table struct {
	Path      component.Path   `param:"path,required" doc:"the file"`
	Overwrite output.Overwrite `param:"overwrite" doc:"what to do with a file that is there" default:"forbid" enum:"forbid|replace"`
}

func init() {
	component.RegisterSink("table", "Writes a line for each day.", writeTable)
}

func writeTable(ctx context.Context, env *component.Env, p Table, in component.Data) error {
	return output.WriteSamples(ctx, env, p.Path, p.Overwrite, in, func(w io.Writer, s dataset.Sample) error {
		var columns []string
		for f := range s.Fields() {
			v, err := f.Item.Value(ctx)
			if err != nil {
				return err
			}
			columns = append(columns, fmt.Sprint(v))
		}
		_, err := fmt.Fprintln(w, strings.Join(columns, "\t"))
		return err
	})
}

// A cache policy that keeps the latest days in memory.

type latest map[int]bool

func init() {
	cache.Register("latest", func() cache.Policy { return latest{} })
}

func (l latest) Insert(pos int, _ int64, _ time.Duration) { l[pos] = true }
func (l latest) Hit(int)                                  {}
func (l latest) Remove(pos int)                           { delete(l, pos) }

func (l latest) Victim(incoming int) (pos int, ok bool) {
	earliest := incoming
	for held := range l {
		earliest = min(earliest, held)
	}
	return earliest, earliest != incoming
}
