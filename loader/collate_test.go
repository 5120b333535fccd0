package loader_test

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/loader"
)

// batchOf returns the only batch of samples that have an item v each.
func batchOf(t *testing.T, ext string, o loader.FieldOptions, values ...any) (*loader.Batch, error) {
	t.Helper()
	samples := make([]dataset.Sample, len(values))
	for i, v := range values {
		samples[i] = dataset.NewSample(dataset.Field{Key: "v", Item: dataset.NewItem(ext, v)})
	}
	o.Item = "v"
	l, err := loader.New(loader.Options{Data: []loader.Data{dataset.List(samples...)}, Fields: []loader.FieldOptions{o}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: len(values)}}})
	if err != nil {
		return nil, err
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Next(t.Context())
}

// elements returns the elements of an array as a string.
func elements(a *array.Array) string {
	switch a.DType {
	case array.Float32:
		v, _ := array.Values[float32](*a)
		return fmt.Sprint(v)
	case array.Float64:
		v, _ := array.Values[float64](*a)
		return fmt.Sprint(v)
	case array.Int64:
		v, _ := array.Values[int64](*a)
		return fmt.Sprint(v)
	case array.Int32:
		v, _ := array.Values[int32](*a)
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%d", a.Data)
}

func of[T array.Element](shape []int, values ...T) *array.Array {
	a, err := array.From(values, shape...)
	if err != nil {
		panic(err)
	}
	return a
}

func TestCollations(t *testing.T) {
	type field = loader.FieldOptions
	for name, c := range map[string]struct {
		ext    string
		field  field
		values []any
		want   string // collation, type, shape, elements, and those of lengths, offsets and shapes
	}{
		"integers":       {"json", field{}, []any{int64(1), int64(-2)}, "stack int64 [2] [1 -2]"},
		"numbers":        {"json", field{}, []any{int64(1), 2.5}, "stack float64 [2] [1 2.5]"},
		"truths":         {"json", field{}, []any{true, false}, "stack bool [2] [1 0]"},
		"float32":        {"json", field{DType: array.Float32}, []any{int64(1), 2.5}, "stack float32 [2] [1 2.5]"},
		"int32":          {"json", field{DType: array.Int32}, []any{int64(-1), int64(2)}, "stack int32 [2] [-1 2]"},
		"lists":          {"json", field{}, []any{[]any{int64(1), 2.5}, []any{int64(3), int64(4)}}, "stack float64 [2 2] [1 2.5 3 4]"},
		"lists of lists": {"json", field{}, []any{[]any{[]any{int64(1)}, []any{int64(2)}}}, "stack int64 [1 2 1] [1 2]"},
		"empty lists":    {"json", field{Collate: loader.Pad}, []any{[]any{}, []any{1.5}, []any{}}, "pad float64 [3 1] [0 1.5 0] lengths [0 1 0]"},
		"only empty":     {"json", field{Collate: loader.List}, []any{[]any{}, []any{}}, "list int64 [0] [] offsets [0 0 0] shapes [0 0]"},
		"documents":      {"json", field{}, []any{map[string]any{"a": int64(1)}, nil}, "json uint8 [11] {\"a\":1}null offsets [0 7 11]"},
		"text":           {"txt", field{}, []any{"ab", "", "c"}, "text uint8 [3] abc offsets [0 2 2 3]"},
		"bytes":          {"bin", field{}, []any{[]byte{1, 2}, []byte{3}}, "bytes uint8 [3] [1 2 3] offsets [0 2 3]"},
		"stacked bytes":  {"bin", field{Collate: loader.Stack}, []any{[]byte{1, 2}, []byte{3, 4}}, "stack uint8 [2 2] [1 2 3 4]"},
		"padded bytes":   {"bin", field{Collate: loader.Pad, With: 9}, []any{[]byte{1, 2}, []byte{3}}, "pad uint8 [2 2] [1 2 3 9] lengths [2 1]"},
		"encoded":        {"txt", field{Collate: loader.Bytes}, []any{"ab", "c"}, "bytes uint8 [3] [97 98 99] offsets [0 2 3]"},
		"json of text":   {"txt", field{Collate: loader.JSON}, []any{"a", "b"}, `json uint8 [6] "a""b" offsets [0 3 6]`},
		"arrays":         {"npy", field{}, []any{of([]int{1, 2}, int32(1), 2), of([]int{1, 2}, int32(3), 4)}, "stack int32 [2 1 2] [1 2 3 4]"},
		"multiple": {"npy", field{Collate: loader.Pad, Multiple: 4, With: -1}, []any{of(nil, int64(1), 2, 3), of(nil, int64(4))},
			"pad int64 [2 4] [1 2 3 -1 4 -1 -1 -1] lengths [3 1]"},
		"two dims": {"npy", field{Collate: loader.Pad, Dims: 2}, []any{of([]int{1, 2}, int32(1), 2), of([]int{2, 1}, int32(3), 4)},
			"pad int32 [2 2 2] [1 2 0 0 3 0 4 0] lengths [1 2 2 1]"},
		"rows of pairs": {"npy", field{Collate: loader.Pad, DType: array.Float32, Mean: []float64{1, 2}}, []any{of([]int{1, 2}, int32(1), 2), of([]int{2, 2}, int32(3), 4, 5, 6)},
			"pad float32 [2 2 2] [0 0 0 0 2 2 4 4] lengths [1 2]"},
		"list": {"npy", field{Collate: loader.List}, []any{of([]int{1, 2}, int32(1), 2), of([]int{2, 1}, int32(3), 4), of([]int{0, 1}, []int32{}...)},
			"list int32 [4] [1 2 3 4] offsets [0 2 4 4] shapes [1 2 2 1 0 1]"},
		"planar": {"npy", field{Planar: true}, []any{of([]int{1, 2, 3}, uint8(1), 2, 3, 4, 5, 6)}, "stack uint8 [1 3 1 2] [1 4 2 5 3 6]"},
		"planar padded": {"npy", field{Planar: true, Collate: loader.Pad, Dims: 2, With: 7, DType: array.Int32},
			[]any{of([]int{1, 1, 2}, uint8(1), 2), of([]int{2, 2, 2}, uint8(1), 2, 3, 4, 5, 6, 7, 8)},
			"pad int32 [2 2 2 2] [1 7 7 7 2 7 7 7 1 3 5 7 2 4 6 8] lengths [1 1 2 2]"},
		"normalised": {"npy", field{Planar: true, Scale: 0.5, Mean: []float64{1, 0, 2}, Deviation: []float64{2}}, []any{of([]int{1, 2, 3}, uint8(2), 4, 8, 6, 0, 4)},
			"stack float32 [1 3 1 2] [0 1 1 0 1 0]"},
		"normalised in place": {"npy", field{Scale: 0.5, Mean: []float64{1, 0, 2}, Deviation: []float64{2}}, []any{of([]int{1, 2, 3}, uint8(2), 4, 8, 6, 0, 4)},
			"stack float32 [1 1 2 3] [0 1 1 1 0 0]"},
		"of float64": {"npy", field{Scale: 2, DType: array.Float64}, []any{of(nil, 1.5, 2)}, "stack float64 [1 2] [3 4]"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := batchOf(t, c.ext, c.field, c.values...)
			if err != nil {
				t.Fatal(err)
			}
			f := &b.Fields[0]
			got := fmt.Sprint(f.Collation, " ", f.DType, " ", f.Shape, " ")
			if f.Collation == loader.Text || f.Collation == loader.JSON {
				got += string(b.ArrayOf(&f.Block).Data)
			} else {
				got += elements(b.ArrayOf(&f.Block))
			}
			for name, block := range map[string]*loader.Block{" lengths ": f.Lengths} {
				if block != nil {
					got += name + elements(b.ArrayOf(block))
				}
			}
			if f.Offsets != nil {
				got += " offsets " + elements(b.ArrayOf(f.Offsets))
			}
			if f.Shapes != nil {
				got += " shapes " + elements(b.ArrayOf(f.Shapes))
			}
			if got != c.want {
				t.Errorf("%s\nnot\n%s", got, c.want)
			}
			for _, block := range []*loader.Block{&f.Block, f.Lengths, f.Offsets, f.Shapes} {
				if block != nil && block.Offset%64 != 0 {
					t.Errorf("a block begins at %d", block.Offset)
				}
			}
		})
	}
}

// TestImages checks that pixels are as FromImage returns them for every type of image, also
// where they are converted in strips or padded.
func TestImages(t *testing.T) {
	const width, height = 31, 2100 // of several strips
	rect := image.Rect(0, 0, width, height)
	gray, rgba, nrgba := image.NewGray(rect), image.NewRGBA(rect), image.NewNRGBA(rect)
	ycc := image.NewYCbCr(rect, image.YCbCrSubsampleRatio420)
	for i := range ycc.Y {
		ycc.Y[i] = uint8(i * 7)
	}
	for i := range ycc.Cb {
		ycc.Cb[i], ycc.Cr[i] = uint8(i*3), uint8(i*5)
	}
	deep := image.NewGray16(rect)
	for y := rect.Min.Y; y < rect.Max.Y; y++ {
		for x := rect.Min.X; x < rect.Max.X; x++ {
			v := uint8(x*y + y/3)
			gray.SetGray(x, y, color.Gray{v})
			rgba.SetRGBA(x, y, color.RGBA{v, v * 3, v * 5, 255})
			nrgba.SetNRGBA(x, y, color.NRGBA{v, v * 3, v * 5, v * 7})
			deep.SetGray16(x, y, color.Gray16{uint16(v) * 200})
		}
	}
	for name, img := range map[string]image.Image{"gray": gray, "rgba": rgba, "nrgba": nrgba, "ycbcr": ycc, "gray16": deep} {
		for _, channels := range []int{0, 1, 3, 4} {
			ext := "png"
			if img == image.Image(ycc) {
				ext = "jpeg"
			}
			it := dataset.NewItem(ext, img)
			v, err := it.Value(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want, err := array.FromImage(v.(image.Image), channels)
			if err != nil {
				t.Fatal(err)
			}
			sample := dataset.NewSample(dataset.Field{Key: "v", Item: it})
			fields := []loader.FieldOptions{
				{Item: "v", Name: "as it is", Channels: channels},
				{Item: "v", Name: "float", Channels: channels, DType: array.Float32},
				{Item: "v", Name: "padded", Channels: channels, Collate: loader.Pad, Multiple: 8},
			}
			if len(want.Shape) == 3 {
				fields = append(fields, loader.FieldOptions{Item: "v", Name: "planes", Channels: channels, Planar: true, DType: array.Float32})
			}
			l, err := loader.New(loader.Options{Data: []loader.Data{dataset.List(sample)}, Fields: fields, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 1}}})
			if err != nil {
				t.Fatal(err)
			}
			b := read(t, l, loader.ReadOptions{Epochs: 1})[0]
			checkImage(t, fmt.Sprint(name, " ", channels), b, want)
		}
	}
}

func checkImage(t *testing.T, name string, b *loader.Batch, want *array.Array) {
	t.Helper()
	number := func(a *array.Array, i int) float64 {
		switch a.DType {
		case array.Uint8:
			return float64(a.Data[i])
		case array.Uint16:
			return float64(a.Data[2*i]) + 256*float64(a.Data[2*i+1])
		}
		v, _ := array.Values[float32](*a)
		return float64(v[i])
	}
	h, w, c := want.Shape[0], want.Shape[1], 1
	if len(want.Shape) == 3 {
		c = want.Shape[2]
	}
	for _, f := range b.Fields {
		a := b.ArrayOf(&f.Block)
		for y := range h {
			for x := range w {
				for ch := range c {
					at := (y*w+x)*c + ch
					switch f.Name {
					case "padded":
						at = (y*a.Shape[2]+x)*c + ch
					case "planes":
						at = (ch*h+y)*w + x
					}
					if got, want := number(a, at), number(want, (y*w+x)*c+ch); got != want {
						t.Fatalf("%s %s: channel %d at %d, %d is %v, not %v", name, f.Name, ch, x, y, got, want)
					}
				}
			}
		}
	}
}

func TestWhatCannotBeLaidOutIsRefused(t *testing.T) {
	type field = loader.FieldOptions
	for _, c := range []struct {
		says   string
		ext    string
		field  field
		values []any
	}{
		{"sample 0 has int32 [1] and sample 1 has int32 [2]; declare it pad or list", "npy", field{}, []any{of(nil, int32(1)), of(nil, int32(1), 2)}},
		{"declare the type", "npy", field{}, []any{of(nil, int32(1)), of(nil, int64(1))}},
		{"sample 1 has text, which cannot be laid out as stack", "json", field{}, []any{int64(1), "a"}},
		{"sample 1: the number 300 does not fit uint8", "json", field{DType: array.Uint8}, []any{int64(1), int64(300)}},
		{"the number -1 does not fit uint64", "json", field{DType: array.Uint64}, []any{int64(-1)}},
		{"the number 2.5 does not fit int8", "json", field{DType: array.Int8}, []any{2.5}},
		{"the number 4e+38 does not fit float32", "json", field{DType: array.Float32}, []any{3e38, 4e38}},
		{"the number 4e+38 does not fit float32", "npy", field{Scale: 1e38}, []any{of(nil, uint8(3)), of(nil, uint8(4))}},
		{"cannot be converted", "npy", field{DType: array.Float32}, []any{of(nil, complex64(1))}},
		{"2 numbers, and there are 3 channels", "npy", field{Mean: []float64{1, 2}}, []any{of([]int{1, 1, 3}, uint8(1), 2, 3)}},
		{"could be planar", "npy", field{Planar: true}, []any{of(nil, uint8(1))}},
		{"do not differ in the first 1 dimensions alone", "npy", field{Collate: loader.Pad}, []any{of([]int{1, 2}, int32(1), 2), of([]int{2, 1}, int32(1), 2)}},
		{"not a valid uint8", "npy", field{Collate: loader.Pad, With: 0.5}, []any{of(nil, uint8(1))}},
		{"have no rows", "npy", field{Collate: loader.Packed}, []any{of(nil, uint8(1))}},
		{"remove the conversion", "txt", field{Collate: loader.Text, Planar: true}, []any{"a"}},
		{"only with pad", "txt", field{Multiple: 3}, []any{"a"}},
		{"cannot be converted to complex64", "npy", field{DType: array.Complex64}, []any{of(nil, uint8(1))}},
		{"a deviation is 0", "npy", field{Deviation: []float64{0}}, []any{of(nil, uint8(1))}},
	} {
		if _, err := batchOf(t, c.ext, c.field, c.values...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q is not said: %v", c.says, err)
		}
	}
}

// TestWholeNumbersStayWhole checks that conversions between integers lose nothing, also at
// the ends of their ranges.
func TestWholeNumbersStayWhole(t *testing.T) {
	for to, ends := range map[array.DType][2]int64{
		array.Bool: {0, 1}, array.Uint8: {0, 1<<8 - 1}, array.Uint16: {0, 1<<16 - 1}, array.Uint32: {0, 1<<32 - 1}, array.Uint64: {0, 1<<63 - 1},
		array.Int8: {-1 << 7, 1<<7 - 1}, array.Int16: {-1 << 15, 1<<15 - 1}, array.Int32: {-1 << 31, 1<<31 - 1}, array.Int64: {-1 << 63, 1<<63 - 1},
	} {
		b, err := batchOf(t, "json", loader.FieldOptions{DType: to}, ends[0], ends[1])
		if err != nil {
			t.Errorf("%v: %v", to, err)
			continue
		}
		back, err := batchOf(t, "npy", loader.FieldOptions{DType: array.Int64}, b.ArrayOf(&b.Fields[0].Block))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := array.Values[int64](*back.ArrayOf(&back.Fields[0].Block)); !slices.Equal(got, ends[:]) {
			t.Errorf("%v: %v, not %v", to, got, ends)
		}
		for _, out := range []int64{ends[0] - 1, ends[1] + 1} {
			if to == array.Int64 || to == array.Uint64 && out > 0 || out < ends[0] && out > 0 {
				continue
			}
			if out == -1<<63 { // it has wrapped
				continue
			}
			if _, err := batchOf(t, "json", loader.FieldOptions{DType: to}, out); err == nil {
				t.Errorf("%v: %d is not refused", to, out)
			}
		}
	}
}

// TestRows checks that packed sequences lie where offsets and lengths say, with padding
// between them.
func TestRows(t *testing.T) {
	var samples []dataset.Sample
	lengths := []int{3, 2, 4, 1, 5}
	for i, n := range lengths {
		tokens := make([]int32, n)
		for k := range tokens {
			tokens[k] = int32(10*(i+1) + k)
		}
		samples = append(samples, dataset.NewSample(
			dataset.Field{Key: "tokens", Item: dataset.NewItem("npy", of(nil, tokens...))},
			dataset.Field{Key: "label", Item: dataset.NewItem("json", int64(i))}))
	}
	for _, c := range []struct {
		batch loader.BatchOptions
		want  []string // tokens, offsets, lengths, labels
	}{
		{loader.BatchOptions{Size: 2, Row: 5, LastBatch: loader.PadLastBatch}, []string{
			"[10 11 12 20 21 30 31 32 33 40] [0 3 5 9] [3 2 4 1] [0 1 2 3]",
			"[50 51 52 53 54 0 0 0 0 0] [0] [5] [4]"}},
		{loader.BatchOptions{Size: 2, Row: 4, Split: true}, []string{
			"[10 11 12 20 21 30 31 32] [0 3 4 5] [3 1 1 3] [0 1 2]",
			"[33 40 50 51 52 53 54 0] [0 1 2 4] [1 1 2 3] [2 3 4]"}},
	} {
		l, err := loader.New(loader.Options{Data: []loader.Data{dataset.List(samples...)}, Plan: loader.PlanOptions{Parts: []loader.Part{{Lengths: lengths}}, Batch: c.batch}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range read(t, l, loader.ReadOptions{Epochs: 1}) {
			f, err := b.Field("tokens")
			if err != nil {
				t.Fatal(err)
			}
			label, err := b.Array("label")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(elements(b.ArrayOf(&f.Block)), " ", elements(b.ArrayOf(f.Offsets)), " ", elements(b.ArrayOf(f.Lengths)), " ", elements(label)))
			if f.Collation != loader.Packed || !slices.Equal(f.Shape, []int{len(b.Rows), c.batch.Row}) {
				t.Errorf("%v %v", f.Collation, f.Shape)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q\nnot\n%q", got, c.want)
		}
	}
}
