package mapper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// computing returns a transform that returns the result of do, identified by its code.
func computing(f dataset.TransformFunc, do func(context.Context, dataset.Sample) (dataset.Sample, error)) dataset.TransformFunc {
	f.Name, f.Out, f.Func = "computing", []string{"made"}, do
	return f
}

// captured returns a transform whose function captures the result of doubled.
func captured(n int) dataset.TransformFunc {
	twice := doubled(n)
	return computing(dataset.TransformFunc{Formats: []string{"json"}}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return oneItem("made", "json", int64(twice)), nil
	})
}

func doubled(n int) int { return 2 * n }

// TestTransformsAreIdentifiedByTheirConstructor checks that the variables that a function literal
// captures count by the code that computes them.
func TestTransformsAreIdentifiedByTheirConstructor(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m, err := dataset.NewTransform(captured(3))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, l, m, "mapper.captured", "mapper.doubled", "mapper.oneItem", "build go", "larder/dataset")
	if m, err = (ImageStats{}).Transform(); err != nil {
		t.Fatal(err)
	}
	wants(t, l, m, "mapper.ImageStats.Transform", "mapper.channel.mean", "larder/array")
	if m, err = (Compute{Set: map[string]string{"a": "b + 1"}}).Transform(); err != nil {
		t.Fatal(err)
	}
	wants(t, l, m, "mapper.formulasOf", "expr.Expression.Eval", "expr.meter.add", "expr.Document", "expr.metered.visit", "github.com/expr-lang/expr")
}

// TestGivenFunctionsThatGetOthers checks that FuncArgs covers the function that the transform
// receives, not the functions that this one receives.
func TestGivenFunctionsThatGetOthers(t *testing.T) {
	for _, c := range []struct {
		f       func(int) int
		refused bool
	}{{doubled, false}, {after(doubled), true}} {
		m, err := dataset.NewTransform(calling(c.f))
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.Op(t.Context(), nil)
		switch {
		case !c.refused && (err != nil || op.Code().Kind != "source"):
			t.Errorf("it is identified by %v: %v", op, err)
		case c.refused && (err == nil || !strings.Contains(err.Error(), "no key says which")):
			t.Errorf("it is identified by %v, and not refused: %v", op, err)
		}
	}
}

// calling returns a transform that calls a function declared as FuncArgs.
func calling(f func(int) int) dataset.TransformFunc {
	return computing(dataset.TransformFunc{Formats: []string{"json"}, FuncArgs: []any{f}}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return oneItem("made", "json", int64(f(2))), nil
	})
}

// after returns a function that calls another.
func after(f func(int) int) func(int) int {
	return func(n int) int { return f(n) + 1 }
}

// wants checks that the identity of a transform covers everything it reaches, including these
// names.
func wants(t *testing.T, l *larder.Larder, m dataset.Transform, parts ...string) {
	t.Helper()
	op, err := m.Op(t.Context(), l)
	if err != nil || op.Code().Kind != "source" {
		t.Fatalf("it is identified by %v: %v", op, err)
	}
	id, err := key.ParseDigest(op.Code().ID)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range known.ClosureParts(t.Context(), l, id) {
		names = append(names, p.Name)
	}
	for _, want := range parts {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, want) }) {
			t.Errorf("%s is not among what counts: %q", want, names)
		}
	}
}

// TestTransformsThatLookFurtherAreRefused checks that a result may depend only on the transform's
// samples.
func TestTransformsThatLookFurtherAreRefused(t *testing.T) {
	m, err := dataset.NewTransform(computing(dataset.TransformFunc{}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "made", Item: dataset.File("a.json", nil)}), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Op(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "dataset.File (more than the samples that a component is given)") {
		t.Errorf("one that reads a file: %v", err)
	}
}

// factor is a value with a method that makes items.
type factor int

func (f factor) do(context.Context, dataset.Sample) (dataset.Sample, error) {
	return oneItem("made", "json", int64(f)), nil
}

// TestBoundMethodsAreRefused checks bound methods, because no key covers the receiver.
func TestBoundMethodsAreRefused(t *testing.T) {
	m, err := dataset.NewTransform(computing(dataset.TransformFunc{}, factor(2).do))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Op(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "is a method bound to a value that no key covers") {
		t.Errorf("a bound method: %v", err)
	}
}

// TestTransformsSeeWhatIsInTheirKeys checks that transforms see only what their keys cover: items
// in order of names, without sharing or identity, and no setting of Larder.
func TestTransformsSeeWhatIsInTheirKeys(t *testing.T) {
	one := dataset.NewItem("txt", "x")
	other := dataset.NewItem("txt", "x")
	for _, s := range []dataset.Sample{
		dataset.NewSample(dataset.Field{Key: "a", Item: one}, dataset.Field{Key: "b", Item: other}),
		dataset.NewSample(dataset.Field{Key: "b", Item: one}, dataset.Field{Key: "a", Item: other}),
		dataset.NewSample(dataset.Field{Key: "a", Item: one, Shared: true}, dataset.Field{Key: "b", Item: other}),
		dataset.NewSample(dataset.Field{Key: "a", Item: one}, dataset.Field{Key: "b", Item: one}),
	} {
		m, err := dataset.NewTransform(computing(dataset.TransformFunc{}, func(_ context.Context, in dataset.Sample) (dataset.Sample, error) {
			a, _ := in.Field("a")
			b, _ := in.Field("b")
			return oneItem("made", "json", fmt.Sprint(in.Keys(), a.Shared, b.Shared, a.Item == b.Item)), nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		out, err := dataset.Map(dataset.List(s), m, dataset.MapOptions{}).At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := out.Value(t.Context(), "made"); v != "[a b] false false false" || err != nil {
			t.Errorf("a transform sees %v (%v)", v, err)
		}
	}
	m, err := dataset.NewTransform(computing(dataset.TransformFunc{}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return oneItem("made", "json", dataset.TidyMemory.Load()), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Op(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "a setting of Larder") {
		t.Errorf("a transform that reads a setting: %v", err)
	}
}

// TestSettingsInTheWay checks that a result is not cached if a setting forbids to decode
// its item, because another setting gives another result.
func TestSettingsInTheWay(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	sizes := func() string {
		m, err := dataset.NewTransform(computing(dataset.TransformFunc{In: []string{"a"}, Formats: []string{"txt"}}, func(ctx context.Context, in dataset.Sample) (dataset.Sample, error) {
			if _, err := in.Value(ctx, "a"); err != nil {
				return oneItem("made", "txt", "none"), nil
			}
			return oneItem("made", "txt", "one"), nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		in := dataset.List(dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("yaml", []byte("k: yes\n"))}))
		out, err := dataset.Map(in, m, dataset.MapOptions{Larder: l, Keep: true}).At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		v, err := out.Value(t.Context(), "made")
		if err != nil {
			t.Fatal(err)
		}
		return v.(string)
	}
	codec.StrictYAML.Store(true)
	defer codec.StrictYAML.Store(false)
	if got := sizes(); got != "none" {
		t.Errorf("%s value where YAML is strict", got)
	}
	codec.StrictYAML.Store(false)
	if got := sizes(); got != "one" {
		t.Errorf("%s value where it is not", got)
	}
}

// TestTransformsWhileSettingsChange checks that no result from before a change of GODEBUG is
// returned.
func TestTransformsWhileSettingsChange(t *testing.T) {
	computing := func() error {
		m, err := dataset.NewTransform(computing(dataset.TransformFunc{}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
			return oneItem("made", "json", "a"), nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Op(t.Context(), nil)
		return err
	}
	if err := computing(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GODEBUG", "urlstrictcolons=0")
	if err := computing(); err == nil || !strings.Contains(err.Error(), "GODEBUG") {
		t.Errorf("with another GODEBUG: %v", err)
	}
}

// TestReductionCounts checks that the size at which an image is read is part of the key.
func TestReductionCounts(t *testing.T) {
	keys := map[key.Key]int{}
	for _, reduce := range []int{0, 2, 3} {
		m, err := ImageResize{Width: 9, Reduce: reduce}.Transform()
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.Op(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := keys[op.Key()]; taken {
			t.Errorf("resizing with reduce %d and %d has one key", reduce, other)
		}
		keys[op.Key()] = reduce
	}
}

// TestEncodersCount checks that the encoder's code is part of the key, and that a transform
// makes only the items that it declares.
func TestEncodersCount(t *testing.T) {
	do := func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return oneItem("made", "json", "a"), nil
	}
	keys := map[key.Key][]string{}
	for _, formats := range [][]string{{"json"}, {"yaml"}, {"json", "yaml"}, {}, nil} {
		m, err := dataset.NewTransform(computing(dataset.TransformFunc{Formats: formats}, do))
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.Op(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := keys[op.Key()]; taken {
			t.Errorf("transforms of %q and %q have one key", formats, other)
		}
		keys[op.Key()] = formats
		_, err = madeBy(t, m)
		if declared := formats == nil || slices.Contains(formats, "json"); declared != (err == nil) {
			t.Errorf("one of %q that makes JSON: %v", formats, err)
		}
	}
}

func madeBy(t *testing.T, m dataset.Transform) (any, error) {
	t.Helper()
	s, err := dataset.Map(dataset.List(dataset.Sample{}), m, dataset.MapOptions{}).At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s.Value(t.Context(), "made")
}

// several returns a transform of several samples per call, which captures the result of
// doubled.
func several(n int) dataset.TransformFunc {
	twice := doubled(n)
	return dataset.TransformFunc{
		Name: "several", In: []string{"a"}, Out: []string{"made"}, Formats: []string{"json"}, Batch: n,
		BatchFunc: func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) {
			outs, failed := make([]dataset.Sample, len(in)), map[int]error{}
			for i, s := range in {
				if _, err := s.Value(ctx, "a"); err != nil {
					failed[i] = err
					continue
				}
				outs[i] = oneItem("made", "json", int64(twice))
			}
			if len(failed) > 0 {
				return outs, &dataset.PartialError{Errs: failed}
			}
			return outs, nil
		},
	}
}

// TestBatchTransformsAreIdentifiedByTheirCode checks that they are identified as transforms
// of one sample are.
func TestBatchTransformsAreIdentifiedByTheirCode(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m, err := dataset.NewTransform(several(3))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, l, m, "mapper.several", "mapper.doubled", "mapper.oneItem", "build go", "larder/dataset")
}
