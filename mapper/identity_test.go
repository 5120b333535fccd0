package mapper

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// making returns a maker of what do returns, known by its code.
func making(f dataset.MakerFunc, do func(context.Context, dataset.Sample) (dataset.Sample, error)) dataset.MakerFunc {
	f.Name, f.Out, f.Func = "making", []string{"made"}, do
	return f
}

// captured returns a maker whose function captures what doubled made.
func captured(n int) dataset.MakerFunc {
	twice := doubled(n)
	return making(dataset.MakerFunc{Formats: []string{"json"}}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return oneItem("made", "json", int64(twice)), nil
	})
}

func doubled(n int) int { return 2 * n }

// TestMakersAreKnownByWhatMakesThem: of a function literal that captures variables
// counts what they are made by.
func TestMakersAreKnownByWhatMakesThem(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m, err := dataset.NewMaker(captured(3))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, l, m, "mapper.captured", "mapper.doubled", "mapper.oneItem", "build go", "larder/dataset")
	if m, err = (ImageStats{}).Maker(); err != nil {
		t.Fatal(err)
	}
	wants(t, l, m, "mapper.ImageStats.Maker", "mapper.channel.mean", "larder/array")
}

// TestGivenFunctionsThatGetOthers: what is Given stands for the function that the
// maker gets, and not for what that gets itself.
func TestGivenFunctionsThatGetOthers(t *testing.T) {
	for _, c := range []struct {
		f    func(int) int
		kind string
	}{{doubled, "source"}, {after(doubled), "program"}} {
		m, err := dataset.NewMaker(calling(c.f))
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.Op(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if kind := op.Code().Kind; (kind == "source") != (c.kind == "source") {
			t.Errorf("it is known by %s, want %s", kind, c.kind)
		}
	}
}

// calling returns a maker that calls a function, which is Given.
func calling(f func(int) int) dataset.MakerFunc {
	return making(dataset.MakerFunc{Formats: []string{"json"}, Given: f}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return oneItem("made", "json", int64(f(2))), nil
	})
}

// after returns a function that calls another.
func after(f func(int) int) func(int) int {
	return func(n int) int { return f(n) + 1 }
}

// wants has a maker be known by what it reaches, with these among that.
func wants(t *testing.T, l *larder.Larder, m dataset.Maker, parts ...string) {
	t.Helper()
	op, err := m.Op(t.Context(), l)
	if err != nil || op.Code().Kind != "source" {
		t.Fatalf("it is known by %v: %v", op, err)
	}
	id, err := key.ParseDigest(op.Code().ID)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range larder.ClosureParts(t.Context(), l, id) {
		names = append(names, p.Name)
	}
	for _, want := range parts {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, want) }) {
			t.Errorf("%s is not among what counts: %q", want, names)
		}
	}
}

// TestMakersThatLookFurtherAreRefused: a result may depend on nothing but the
// samples that a maker is given.
func TestMakersThatLookFurtherAreRefused(t *testing.T) {
	m, err := dataset.NewMaker(making(dataset.MakerFunc{}, func(context.Context, dataset.Sample) (dataset.Sample, error) {
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

// TestBoundMethodsAreRefused: what a method is bound to is in no key.
func TestBoundMethodsAreRefused(t *testing.T) {
	m, err := dataset.NewMaker(making(dataset.MakerFunc{}, factor(2).do))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Op(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "is a method bound to a value that no key covers") {
		t.Errorf("a bound method: %v", err)
	}
}

// TestEncodersCount: the code that encodes what is made is part of the key, and a
// maker makes nothing that it does not say.
func TestEncodersCount(t *testing.T) {
	do := func(context.Context, dataset.Sample) (dataset.Sample, error) {
		return oneItem("made", "json", "a"), nil
	}
	keys := map[key.Key][]string{}
	for _, formats := range [][]string{{"json"}, {"yaml"}, {"json", "yaml"}, {}, nil} {
		m, err := dataset.NewMaker(making(dataset.MakerFunc{Formats: formats}, do))
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.Op(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := keys[op.Key()]; taken {
			t.Errorf("makers of %q and %q have one key", formats, other)
		}
		keys[op.Key()] = formats
		_, err = madeBy(t, m)
		if declared := formats == nil || slices.Contains(formats, "json"); declared != (err == nil) {
			t.Errorf("one of %q that makes JSON: %v", formats, err)
		}
	}
}

func madeBy(t *testing.T, m dataset.Maker) (any, error) {
	t.Helper()
	s, err := dataset.Map(dataset.List(dataset.Sample{}), m, dataset.MapOptions{}).At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s.Value(t.Context(), "made")
}
