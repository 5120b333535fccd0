package parquet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/arrow"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/parquet"
	"github.com/larder-data/larder/pool"
)

// ofLines returns samples whose items are the fields of JSON lines.
func ofLines(t *testing.T, lines ...string) (samples []dataset.Sample) {
	t.Helper()
	for _, line := range lines {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		var s []dataset.Field
		for name, text := range fields {
			s = append(s, dataset.Field{Key: name, Item: dataset.NewBytes("json", text)})
		}
		slices.SortFunc(s, func(a, b dataset.Field) int { return strings.Compare(a.Key, b.Key) })
		samples = append(samples, dataset.NewSample(s...))
	}
	return samples
}

// stored writes samples as Parquet or Arrow, and reads them, lists of numbers as documents.
func stored(t *testing.T, as string, types map[string]string, samples []dataset.Sample) (rows []map[string]any, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a."+as)
	in := component.Data{Parts: []component.Samples{dataset.List(samples...)}}
	var ds component.Samples
	if as == "parquet" {
		if err = (parquet.Sink{Path: component.Path(path), Overwrite: output.Replace, Types: types}).Write(t.Context(), env(), in); err == nil {
			ds, err = parquet.Source{}.Open(t.Context(), path, env())
		}
	} else if err = (arrow.Sink{Path: component.Path(path), Overwrite: output.Replace, Types: types}).Write(t.Context(), env(), in); err == nil {
		ds, err = arrow.Source{}.Open(t.Context(), path, env())
	}
	if err != nil {
		if _, serr := os.Stat(path); serr == nil {
			t.Error("a file that was not written as a whole is there")
		}
		return nil, err
	}
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for f := range s.Fields() {
			if row[f.Key], err = f.Item.Value(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// TestTypesOfAllSamples checks that all samples decide the type of a column, not the first
// ones.
func TestTypesOfAllSamples(t *testing.T) {
	b, err := os.ReadFile("testdata/late-types.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	samples := ofLines(t, strings.Split(strings.TrimSpace(string(b)), "\n")...)
	for _, as := range []string{"parquet", "arrow"} {
		rows, err := stored(t, as, nil, samples)
		if err != nil || len(rows) != 140 {
			t.Fatalf("%s: %d rows, %v", as, len(rows), err)
		}
		early := map[string]any{"id": int64(119), "text": nil, "list": []any{}, "object": map[string]any{"k": nil}, "number": 1.0}
		late := map[string]any{"id": int64(120), "text": "x", "list": []any{"a"}, "object": map[string]any{"k": "v"}, "number": 1.5}
		if !reflect.DeepEqual(rows[119], early) || !reflect.DeepEqual(rows[120], late) {
			t.Errorf("%s: %v, %v", as, rows[119], rows[120])
		}
	}
}

// TestNestedColumns checks that objects become structs, also in lists, and gain fields and
// types with later samples.
func TestNestedColumns(t *testing.T) {
	samples := ofLines(t,
		`{"a": [], "b": {"c": [{"x": 1}, null]}, "n": null, "u": 1}`,
		`{"a": ["s", null], "b": null, "n": null, "u": 18446744073709551615}`,
		`{"a": null, "b": {"c": [], "d": true}, "z": "new"}`,
		`{"a": ["t"], "b": {"c": [{"x": null, "y": [["deep"], []]}, {"x": 2.5}]}}`,
	)
	for _, as := range []string{"parquet", "arrow"} {
		rows, err := stored(t, as, nil, samples)
		if err != nil {
			t.Fatalf("%s: %v", as, err)
		}
		got, err := json.Marshal(rows)
		want := `[{"a":[],"b":{"c":[{"x":1,"y":null},null],"d":null},"n":null,"u":1,"z":null},` +
			`{"a":["s",null],"b":null,"n":null,"u":18446744073709551615,"z":null},` +
			`{"a":null,"b":{"c":[],"d":true},"n":null,"u":null,"z":"new"},` +
			`{"a":["t"],"b":{"c":[{"x":null,"y":[["deep"],[]]},{"x":2.5,"y":null}],"d":null},"n":null,"u":null,"z":null}]`
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v\nwant %s", as, got, err, want)
		}
	}
}

// TestTypesThatConflict checks that the error names both samples and the path in the item.
func TestTypesThatConflict(t *testing.T) {
	many := make([]string, 30)
	for i := range many {
		many[i] = `{"x": {` + strings.TrimSuffix(strings.Repeat(`"`+string(rune('a'+i%26))+strings.Repeat("b", i)+`@": 1, `, 100), ", ") + `}}`
		for j := range 100 {
			many[i] = strings.Replace(many[i], "@", strings.Repeat("c", j), 1)
		}
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{`{"x": null}`, `{"x": 1}`, `{"x": "a"}`}, "item x: type is int64 in sample 1 but string in sample 2"},
		{[]string{`{"x": {"k": [1]}}`, `{"x": {"k": {}}}`}, "k: type is a list in sample 0 but an object in sample 1"},
		{[]string{`{"x": true}`, `{"x": 1}`}, "type is bool in sample 0 but int64 in sample 1"},
		{[]string{`{"x": -1}`, `{"x": 18446744073709551615}`}, "type is int64 in sample 0 but uint64 in sample 1"},
		{[]string{`{"x": 18446744073709551616}`}, "an integer exceeds 64 bits"},
		{[]string{`{"x": 9007199254740993}`, `{"x": 0.5}`}, "cannot be stored in a column of float64"},
		{[]string{`{"x": {}}`}, "an object has no fields"},
		{many, "more than 2000 fields"},
	} {
		for _, as := range []string{"parquet", "arrow"} {
			if rows, err := stored(t, as, nil, ofLines(t, c.lines...)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, %v; want %q", as, rows, err, c.want)
			}
			if _, err := stored(t, as, map[string]string{"x": "json"}, ofLines(t, c.lines...)); err != nil {
				t.Errorf("%s: as JSON: %v", as, err)
			}
		}
	}
}

// TestFloatsThatJSONHasNot checks that they survive in documents, and pass to another
// table.
func TestFloatsThatJSONHasNot(t *testing.T) {
	object := map[string]any{"mean": math.Inf(-1), "std": math.NaN(), "text": ".nan", "whole": 1.0, "n": int64(1), "list": []any{nil, math.NaN(), 0.5}}
	samples := []dataset.Sample{dataset.NewSample(dataset.Field{Key: "x", Item: dataset.NewItem("yaml", object)})}
	for _, as := range []string{"parquet", "arrow"} {
		rows, err := stored(t, as, nil, samples)
		if err != nil || fmt.Sprint(rows[0]["x"]) != fmt.Sprint(object) {
			t.Errorf("%s: %v, %v", as, rows, err)
		}
	}
}

// TestDocumentsNextToArrays checks that numbers of a document get the type of arrays in the
// column if it fits, in any order.
func TestDocumentsNextToArrays(t *testing.T) {
	for _, c := range []struct {
		of   array.DType
		doc  string
		want string // "" for an error
	}{
		{array.Int8, `[1, null, -128]`, "[1 <nil> -128]"},
		{array.Int8, `[1, null, 128]`, ""},
		{array.Uint8, `[255, null]`, "[255 <nil>]"},
		{array.Uint8, `[-1, null]`, ""},
		{array.Int64, `[1, null]`, "[1 <nil>]"},
		{array.Int64, `[1.0, null]`, ""},
		{array.Uint64, `[18446744073709551615, null, 1]`, "[18446744073709551615 <nil> 1]"},
		{array.Float16, `[65504, null, -0.5, 5.960464477539063e-8]`, "[65504 <nil> -0.5 5.960464477539063e-08]"},
		{array.Float16, `[0.1, null]`, ""},
		{array.Float32, `[16777216, null, 0.5]`, "[1.6777216e+07 <nil> 0.5]"},
		{array.Float32, `[16777217, null]`, ""},
		{array.Float64, `[0.1, null, 1]`, "[0.1 <nil> 1]"},
	} {
		a, err := array.New(c.of, []int{1}, make([]byte, c.of.Size()))
		if err != nil {
			t.Fatal(err)
		}
		zero := dataset.NewSample(dataset.Field{Key: "x", Item: dataset.NewItem("npy", a)})
		samples := []dataset.Sample{zero, ofLines(t, `{"x": `+c.doc+`}`)[0], zero}
		for _, as := range []string{"parquet", "arrow"} {
			for _, from := range []int{0, 1} {
				rows, err := stored(t, as, nil, samples[from:])
				if c.want == "" {
					if err == nil || !strings.Contains(err.Error(), "item x: []: type is") {
						t.Errorf("%s: %v next to %v: %v, %v", as, c.doc, c.of, rows, err)
					}
					continue
				}
				if err != nil || fmt.Sprint(rows[1-from]["x"]) != c.want {
					t.Errorf("%s: %v next to %v: %v, %v", as, c.doc, c.of, rows, err)
				} else if back, ok := rows[2-from]["x"].(*array.Array); !ok || back.DType != c.of {
					t.Errorf("%s: %v next to %v: %v came back", as, c.doc, c.of, rows[2-from]["x"])
				}
			}
		}
	}
}

// TestSamplesAreMadeOnce checks this also where many rows wait in a file until their types
// are known.
func TestSamplesAreMadeOnce(t *testing.T) {
	made := make([]int, 40)
	large := strings.Repeat("a", 1<<20)
	ds := dataset.Func(len(made), func(_ context.Context, i int) (dataset.Sample, error) {
		made[i]++
		return dataset.NewSample(dataset.Field{Key: "x", Item: dataset.NewItem("json", large+strconv.Itoa(i))}), nil
	})
	path := filepath.Join(t.TempDir(), "a.parquet")
	e := env()
	e.Pool = pool.New(1)
	if err := (parquet.Sink{Path: component.Path(path), Overwrite: output.Replace}).Write(t.Context(), e, component.Data{Parts: []component.Samples{ds}}); err != nil {
		t.Fatal(err)
	}
	for i, n := range made {
		if n != 1 && i > 0 { // the first one is read before
			t.Errorf("sample %d was made %d times", i, n)
		}
	}
	back, err := parquet.Source{}.Open(t.Context(), path, env())
	if err != nil || back.Len() != len(made) {
		t.Fatal(err)
	}
	for _, i := range []int{0, 7, 8, 39} {
		s, err := back.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Value(t.Context(), "x"); err != nil || v != large+strconv.Itoa(i) {
			t.Errorf("row %d: %.20v, %v", i, v, err)
		}
	}
}

// TestNullsOfDocuments checks that null is a null of a JSON column, not the string null.
func TestNullsOfDocuments(t *testing.T) {
	samples := ofLines(t, `{"a": {"x": 1}}`, `{"a": null}`)
	for _, as := range []string{"parquet", "arrow"} {
		path := filepath.Join(t.TempDir(), "a."+as)
		in := component.Data{Parts: []component.Samples{dataset.List(samples...)}}
		var ds component.Samples
		var err error
		types, text := map[string]string{"a": "json"}, map[string]string{"a": "txt"}
		if as == "parquet" {
			if err = (parquet.Sink{Path: component.Path(path), Types: types}).Write(t.Context(), env(), in); err == nil {
				ds, err = parquet.Source{Formats: text}.Open(t.Context(), path, env())
			}
		} else if err = (arrow.Sink{Path: component.Path(path), Types: types}).Write(t.Context(), env(), in); err == nil {
			ds, err = arrow.Source{Formats: text}.Open(t.Context(), path, env())
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := ds.At(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Value(t.Context(), "a"); v != nil || err != nil {
			t.Errorf("%s: %v, %v", as, v, err)
		}
	}
}
