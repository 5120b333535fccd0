package arrow_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/arrow"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// TestFar checks that a file at a URL has the rows of the local file, in any order, and
// that a change is an error.
func TestFar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	var samples []dataset.Sample
	for i := range 200 {
		samples = append(samples, dataset.NewSample(
			dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(i))},
			dataset.Field{Key: "list", Item: dataset.NewItem("json", []any{fmt.Sprint(i), "x"})}))
	}
	if err := write(t, nil, path, samples...); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := objectstoretest.Serve(t)
	open := func(at string) component.Samples {
		t.Helper()
		ds, err := arrow.Source{}.Open(t.Context(), at, &component.Env{})
		if err != nil || ds.Len() != len(samples) {
			t.Fatal(err)
		}
		return ds
	}
	here, far := open(path), open(s.Put("a.arrow", content))
	value := func(ds component.Samples, i int, key string) (any, error) {
		sample, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		return sample.Value(t.Context(), key)
	}
	for i := len(samples) - 1; i >= 0; i-- {
		for _, key := range []string{"list", "n"} {
			got, err := value(far, i, key)
			want, werr := value(here, i, key)
			if err != nil || werr != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s of row %d is %v, %v; here it is %v, %v", key, i, got, err, want, werr)
			}
		}
	}
	changed := open(s.URL + "/a.arrow")
	s.Put("a.arrow", append([]byte("other"), content...))
	if v, err := value(changed, 3, "n"); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("of a file that changed: %v, %v", v, err)
	}
}
