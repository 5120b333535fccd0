package op_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/op"
)

// vectors returns a dataset of n samples with an array of 1000 bytes. It counts how often
// they are computed.
func vectors(t *testing.T, n int, computed *atomic.Int64) component.Samples {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "vector", Code: key.Version("1"), In: []string{"meta"}, Out: []string{"vector"},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
			computed.Add(1)
			a, err := array.From(make([]uint8, 1000), 1000)
			return dataset.NewSample(dataset.Field{Key: "vector", Item: dataset.NewItem("npy", a)}), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return dataset.Map(numbers(n), m, dataset.MapOptions{})
}

func TestMemorizeReadsEverythingOnce(t *testing.T) {
	var computed atomic.Int64
	e := env()
	c, err := component.Find(component.Op, "memorize")
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Apply(t.Context(), e, op.Memorize{}, []component.Samples{vectors(t, 10, &computed)})
	if err != nil {
		t.Fatal(err)
	}
	if computed.Load() != 10 || e.Stats.Done.Load() != 10 || e.Stats.Total.Load() != 10 {
		t.Errorf("%d of 10 were computed, %d of %d done", computed.Load(), e.Stats.Done.Load(), e.Stats.Total.Load())
	}
	for range 3 {
		if got := contents(t, d.Parts[0]); !slices.Equal(got, span(0, 10)) {
			t.Errorf("samples are %v", got)
		}
		s, err := d.Parts[0].At(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Value(t.Context(), "vector"); err != nil {
			t.Fatal(err)
		}
	}
	if computed.Load() != 10 {
		t.Errorf("reading from memory computed %d more", computed.Load()-10)
	}
}

func TestMemorizeIsBounded(t *testing.T) {
	var computed atomic.Int64
	for _, c := range []struct {
		bytes, most int
		says        string
	}{
		{5000, 0, "10000 samples always take more than the 5000 bytes allowed"},
		{10_000 * 24, 8000, "above the 240000 allowed; raise bytes"},
	} {
		computed.Store(0)
		err := refusal(t, "memorize", op.Memorize{Bytes: c.bytes}, vectors(t, 10_000, &computed))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("the error is %v", err)
		}
		if computed.Load() > int64(c.most) {
			t.Errorf("%d samples were computed before that was seen", computed.Load())
		}
	}
}

// TestMemorizeIsDry checks that a dry run computes nothing and predicts the run.
func TestMemorizeIsDry(t *testing.T) {
	var computed atomic.Int64
	c, err := component.Find(component.Op, "memorize")
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Apply(larder.CachedOnly(t.Context()), env(), op.Memorize{}, []component.Samples{vectors(t, 10, &computed)})
	if err != nil || d.Parts[0].Len() != 10 || computed.Load() != 0 {
		t.Errorf("%v, and %d samples were computed", err, computed.Load())
	}
}

func TestMemorizePassesErrorsOn(t *testing.T) {
	failed := errors.New("no such thing")
	ds := dataset.Func(3, func(_ context.Context, i int) (dataset.Sample, error) {
		if i == 1 {
			return dataset.Sample{}, &dataset.SampleError{Node: "before", Index: i, Err: failed}
		}
		return dataset.Sample{}, nil
	})
	if err := refusal(t, "memorize", op.Memorize{}, ds); !errors.Is(err, failed) || !strings.Contains(err.Error(), "node before: sample 1") {
		t.Errorf("the error is %v", err)
	}
	broken := dataset.List(dataset.NewSample(dataset.Field{Key: "doc", Item: dataset.NewBytes("json", []byte("{"))}))
	if err := refusal(t, "memorize", op.Memorize{}, broken); err == nil || !strings.Contains(err.Error(), "node n: sample 0: item doc") {
		t.Errorf("the error is %v", err)
	}
}
