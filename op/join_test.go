package op_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/op"
)

// texts returns a dataset of n samples with the given items, each a string that names the
// dataset, and a shared one.
func texts(n int, name string, keys ...string) component.Samples {
	return dataset.Func(n, func(context.Context, int) (dataset.Sample, error) {
		s := dataset.NewSample(dataset.Field{Key: "classes", Item: dataset.NewItem("txt", name), Shared: true})
		for _, k := range keys {
			s = s.WithItem(k, dataset.NewItem("txt", name))
		}
		return s, nil
	})
}

// described returns the items of a sample as key=value.
func described(t *testing.T, s dataset.Sample) string {
	t.Helper()
	var all []string
	for f := range s.Fields() {
		v, err := f.Item.Value(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f.Key+"="+v.(string))
	}
	return strings.Join(all, " ")
}

func TestZip(t *testing.T) {
	left, right := texts(2, "left", "image", "label"), texts(2, "right", "image", "mask")
	for _, c := range []struct {
		name string
		zip  op.Zip
		in   []component.Samples
		want string
	}{
		{"nothing in common", op.Zip{}, []component.Samples{left, withoutShared(texts(2, "right", "mask"))}, "classes=left image=left label=left mask=right"},
		{"one", op.Zip{}, []component.Samples{left}, "classes=left image=left label=left"},
		{"renamed", op.Zip{Keys: []string{"*", "right_*"}}, []component.Samples{left, right}, "classes=left image=left label=left right_classes=right right_image=right right_mask=right"},
		{"renamed twice", op.Zip{Keys: []string{"**", "*"}}, []component.Samples{texts(2, "left", "a"), right}, "classesclasses=left aa=left classes=right image=right mask=right"},
		{"the first", op.Zip{Clash: "first"}, []component.Samples{left, right}, "classes=left image=left label=left mask=right"},
		{"the last", op.Zip{Clash: "last"}, []component.Samples{left, right}, "classes=right image=right label=left mask=right"},
		{"the first, renamed", op.Zip{Clash: "first", Keys: []string{"*", "*2"}}, []component.Samples{left, right}, "classes=left image=left label=left classes2=right image2=right mask2=right"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds := apply(t, "zip", c.zip, c.in...).Parts[0]
			s, err := ds.At(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := described(t, s); got != c.want || ds.Len() != 2 {
				t.Errorf("%d samples of %s, want 2 of %s", ds.Len(), got, c.want)
			}
			if f, _ := s.Field("classes"); !f.Shared {
				t.Error("the shared item is no longer shared")
			}
		})
	}
}

// withoutShared returns ds without its shared item.
func withoutShared(ds component.Samples) component.Samples {
	return dataset.Map(ds, dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
		return s.Without("classes"), nil
	}), dataset.MapOptions{})
}

// TestZipRefusesItemsOfTheSameName checks that a name in two datasets is an error: the last
// one replaced the others silently.
func TestZipRefusesItemsOfTheSameName(t *testing.T) {
	for _, zip := range []op.Zip{{}, {Clash: "error"}, {Keys: []string{"x_*", "x_*"}}} {
		ds := apply(t, "zip", zip, texts(1, "left", "image"), texts(1, "right", "image")).Parts[0]
		if _, err := ds.At(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "node n: sample 0: zip: item") {
			t.Errorf("%+v: the error is %v", zip, err)
		}
	}
}

func TestZipUntilTheShortest(t *testing.T) {
	other := dataset.Map(numbers(5), dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
		return s.Rename(map[string]string{"meta": "other"})
	}), dataset.MapOptions{})
	for _, n := range []int{0, 3, 5, 7} {
		got := contents(t, apply(t, "zip", op.Zip{Length: "shortest"}, numbers(n), other).Parts[0])
		if !slices.Equal(got, span(0, min(n, 5))) {
			t.Errorf("%d and 5 samples: %v", n, got)
		}
	}
}
