package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
)

// dice returns a transform that draws one number into item n, and counts.
func dice(t testing.TB, name, version string, r dataset.Random, runs *atomic.Int64) dataset.Transform {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: name, Code: key.Version(version), In: []string{"a"}, Out: []string{"n"}, Random: &r,
		Func: func(ctx context.Context, _ dataset.Sample) (dataset.Sample, error) {
			if runs != nil {
				runs.Add(1)
			}
			return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("txt", fmt.Sprint(dataset.Rand(ctx).Uint64()))}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawn(t testing.TB, ds dataset.Dataset[dataset.Sample], m dataset.Mapper, o dataset.MapOptions) []string {
	t.Helper()
	return values(t, dataset.Map(ds, m, o), "n")
}

// TestDrawsStay pins the draws: every later version must return the same datasets.
func TestDrawsStay(t *testing.T) {
	got := drawn(t, texts(2, "a"), dice(t, "dice", "1", dataset.Random{Seed: 1, Epoch: 2}, nil), dataset.MapOptions{})
	got = append(got, drawn(t, texts(1, "a"), dice(t, "dice", "1", dataset.Random{Per: dataset.PerContent}, nil), dataset.MapOptions{})...)
	want := []string{"17177194241302848544", "8069630720448941765", "4066046914329278622"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatDrawsDependOn checks that draws depend on seed, epoch, sample and transform's name,
// and on nothing else.
func TestWhatDrawsDependOn(t *testing.T) {
	base := drawn(t, texts(8, "a"), dice(t, "dice", "1", dataset.Random{}, nil), dataset.MapOptions{Node: "one"})
	for what, got := range map[string][]string{
		"again":                  drawn(t, texts(8, "a"), dice(t, "dice", "1", dataset.Random{}, nil), dataset.MapOptions{Node: "one"}),
		"another node":           drawn(t, texts(8, "a"), dice(t, "dice", "1", dataset.Random{}, nil), dataset.MapOptions{Node: "two"}),
		"another version":        drawn(t, texts(8, "a"), dice(t, "dice", "2", dataset.Random{}, nil), dataset.MapOptions{}),
		"other items next to it": drawn(t, texts(8, "a", "b"), dice(t, "dice", "1", dataset.Random{}, nil), dataset.MapOptions{}),
		"per position, said so":  drawn(t, texts(8, "a"), dice(t, "dice", "1", dataset.Random{Per: dataset.PerPosition}, nil), dataset.MapOptions{}),
		"a dataset that is less": append(drawn(t, texts(3, "a"), dice(t, "dice", "1", dataset.Random{}, nil), dataset.MapOptions{}), base[3:]...),
	} {
		if !slices.Equal(got, base) {
			t.Errorf("%s gives other draws", what)
		}
	}
	seen := map[string]string{}
	for what, r := range map[string]dataset.Random{
		"": {}, "seed 1": {Seed: 1}, "seed -1": {Seed: -1}, "epoch 1": {Epoch: 1}, "content": {Per: dataset.PerContent}, "content, epoch 1": {Per: dataset.PerContent, Epoch: 1},
	} {
		for _, name := range []string{"dice", "coin"} {
			for i, n := range drawn(t, texts(8, "a"), dice(t, name, "1", r, nil), dataset.MapOptions{}) {
				here := fmt.Sprint(name, " ", what, " ", i)
				if other, ok := seen[n]; ok {
					t.Errorf("%s and %s drew the same", here, other)
				}
				seen[n] = here
			}
		}
	}
}

// TestDrawsPerPositionAndContent checks that a sample repeated at another position gets new
// draws by position, and the same by content.
func TestDrawsPerPositionAndContent(t *testing.T) {
	again, err := order.Repeat(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	ds := dataset.Reorder(texts(4, "a"), again)
	position := drawn(t, ds, dice(t, "dice", "1", dataset.Random{}, nil), dataset.MapOptions{})
	for i := range 4 {
		if position[i] == position[i+4] {
			t.Errorf("sample %d was drawn for alike at two positions", i)
		}
	}
	content := drawn(t, ds, dice(t, "dice", "1", dataset.Random{Per: dataset.PerContent}, nil), dataset.MapOptions{})
	if !slices.Equal(content[:4], content[4:]) || slices.Equal(content[:4], position[:4]) {
		t.Errorf("per content: %q", content)
	}
}

// TestRandomResultsAreCached checks that draws are equal in another process, with any number
// of workers, and after eviction. Their inputs are part of the key.
func TestRandomResultsAreCached(t *testing.T) {
	var runs atomic.Int64
	_, reopen := newLarder(t)
	for _, per := range []dataset.Per{dataset.PerPosition, dataset.PerContent} {
		runs.Store(0)
		r := dataset.Random{Per: per}
		base := drawn(t, texts(9, "a"), dice(t, "dice", "1", r, &runs), dataset.MapOptions{})
		cached := func(r dataset.Random) []string {
			ds := dataset.Map(texts(9, "a"), dice(t, "dice", "1", r, &runs), dataset.MapOptions{Larder: reopen(), Keep: true})
			got := make([]string, 9)
			err := pool.New(4).Each(t.Context(), 9, func(ctx context.Context, i int) error {
				s, err := ds.At(ctx, 8-i)
				if err != nil {
					return err
				}
				v, err := s.Value(ctx, "n")
				got[8-i], _ = v.(string)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		cold, warm := cached(r), cached(r)
		if !slices.Equal(cold, base) || !slices.Equal(warm, base) || runs.Load() != 18 {
			t.Errorf("per %s: other draws, or %d executions of 18", per, runs.Load())
		}
		r.Epoch = 1
		if other := cached(r); slices.Equal(other, base) || runs.Load() != 27 {
			t.Errorf("per %s: another epoch was treated as the same", per)
		}
	}
}

func TestRandIsDeclared(t *testing.T) {
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "sly", Code: key.Version("1"), In: []string{"n"}, Out: []string{"c"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			dataset.Rand(ctx)
			return s, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Undeclared draws are an error both alone and below a transform that declares its draws.
	below := dataset.Map(dataset.Map(texts(1, "n"), m, dataset.MapOptions{}), rename(t, "c", "a"), dataset.MapOptions{})
	for what, ds := range map[string]dataset.Dataset[dataset.Sample]{
		"alone": dataset.Map(below, rename(t, "a", "n"), dataset.MapOptions{}),
		"below": dataset.Map(below, reader(t), dataset.MapOptions{}),
	} {
		s, err := ds.At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Value(t.Context(), "n")
		var p *singleflight.PanicError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "does not declare that it is random") {
			t.Errorf("%s: the error is %v", what, err)
		}
	}
	if m.Random() != nil || dice(t, "dice", "1", dataset.Random{Seed: 3}, nil).Random().Seed != 3 {
		t.Error("a transform does not say whether it is random")
	}
	_, err = dataset.NewTransform(dataset.TransformFunc{Name: "x", Code: key.Version("1"), Random: &dataset.Random{Per: "node"}})
	if err == nil || !strings.Contains(err.Error(), `per is "node"`) {
		t.Errorf("the error is %v", err)
	}
}

// reader returns a random transform that reads a and draws.
func reader(t *testing.T) dataset.Transform {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "reader", Code: key.Version("1"), In: []string{"a"}, Out: []string{"n"}, Random: &dataset.Random{},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			dataset.Rand(ctx).Uint64()
			_, err := s.Value(ctx, "a")
			return dataset.Sample{}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func rename(t *testing.T, from, to string) dataset.Mapper {
	t.Helper()
	return dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
		return s.Without(to).Rename(map[string]string{from: to})
	})
}
