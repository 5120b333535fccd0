package hf_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	goarray "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/hf"
	"github.com/larder-data/larder/pool"
)

func env() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

// images returns a stream of a column of images, as they are stored.
func images(t testing.TB, contents ...string) []byte {
	t.Helper()
	schema := goarrow.NewSchema([]goarrow.Field{{Name: "image", Type: goarrow.StructOf(
		goarrow.Field{Name: "bytes", Type: goarrow.BinaryTypes.Binary, Nullable: true}, goarrow.Field{Name: "path", Type: goarrow.BinaryTypes.String, Nullable: true},
	), Nullable: true}}, nil)
	b := goarray.NewRecordBuilder(memory.DefaultAllocator, schema)
	s := b.Field(0).(*goarray.StructBuilder)
	for _, c := range contents {
		content, path, _ := strings.Cut(c, "|")
		if content == "null" {
			s.AppendNull()
			continue
		}
		s.Append(true)
		if content == "" {
			s.FieldBuilder(0).AppendNull()
		} else {
			s.FieldBuilder(0).(*goarray.BinaryBuilder).Append([]byte(content))
		}
		s.FieldBuilder(1).(*goarray.StringBuilder).Append(path)
	}
	var to bytes.Buffer
	w := ipc.NewWriter(&to, ipc.WithSchema(schema))
	if err := w.Write(b.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

func directory(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	state = `{"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_fingerprint": "0"}`
	info  = `{"features": {"image": {"decode": true, "_type": "Image"}}}`
)

// TestImages checks that bytes are decoded by their first bytes, or else by their name.
func TestImages(t *testing.T) {
	dir := directory(t, map[string]string{"state.json": state, "dataset_info.json": info, "data-00000-of-00001.arrow": string(images(t, "\x89PNG\r\n...|a.jpg", "?|A.JPEG", "?|", "null", "|http://far/a.png"))})
	ds, err := hf.Source{}.Open(t.Context(), dir, env())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"png", "jpeg", "bin", "json"} {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		it, err := s.Item("image")
		if err != nil {
			t.Fatal(err)
		}
		if ext, err := it.Ext(t.Context()); err != nil || ext != want {
			t.Errorf("%d: %q, %v; want %q", i, ext, err, want)
		}
	}
	s, err := ds.At(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Value(t.Context(), "image"); err == nil || !strings.Contains(err.Error(), "only the path \"http://far/a.png\" is stored") {
		t.Errorf("%v, %v", v, err)
	}
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	rows := string(images(t, "?|"))
	for name, c := range map[string]struct {
		files map[string]string
		split string
		says  string
	}{
		"nothing":        {nil, "", "no state.json"},
		"no JSON":        {map[string]string{"state.json": "{"}, "", "JSON"},
		"a way out":      {map[string]string{"state.json": `{"_data_files": [{"filename": "../a.arrow"}]}`}, "", `"../a.arrow" is not a file name in its directory`},
		"an order":       {map[string]string{"state.json": `{"_data_files": [], "_indices_data_files": [{"filename": "i.arrow"}]}`}, "", "has an indices mapping"},
		"a missing file": {map[string]string{"state.json": state}, "", "no such file"},
		"no range":       {map[string]string{"state.json": `{"_data_files": [{"filename": "a.arrow", "skip": -1, "take": 2}]}`}, "", "skip -1 and take 2"},
		"transforms":     {map[string]string{"state.json": `{"_data_files": [], "_inplace_history": [{"transforms": [["rename_column", [], {}]]}]}`}, "", "_inplace_history"},
		"no split":       {map[string]string{"dataset_dict.json": `{"splits": ["train", "test"]}`}, "", "train, test"},
		"another split":  {map[string]string{"dataset_dict.json": `{"splits": ["train"]}`}, "test", "train"},
		"no splits":      {map[string]string{"state.json": state, "data-00000-of-00001.arrow": rows}, "train", "remove split"},
		"a split's name": {nil, "../train", `split: "../train" is not a directory name`},
	} {
		if _, err := (hf.Source{Split: c.split}).Open(t.Context(), directory(t, c.files), env()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRanges checks that the dataset has take rows from skip on of a file of version 1.
func TestRanges(t *testing.T) {
	for state, want := range map[string]string{
		`{"filename": "a.arrow", "skip": 1, "take": 2}`:                                                "bc",
		`{"filename": "a.arrow", "skip": 3, "take": -1}`:                                               "de",
		`{"filename": "a.arrow", "skip": null, "take": null}`:                                          "abcde",
		`{"filename": "a.arrow", "skip": 4, "take": 9}, {"filename": "a.arrow", "skip": 0, "take": 1}`: "ea",
		`{"filename": "a.arrow", "skip": 9, "take": 1}`:                                                "",
	} {
		dir := directory(t, map[string]string{"state.json": `{"_data_files": [` + state + `]}`, "dataset_info.json": info, "a.arrow": string(images(t, "a|", "b|", "c|", "d|", "e|"))})
		ds, err := hf.Source{}.Open(t.Context(), dir, env())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for s, err := range dataset.All(t.Context(), ds) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.Value(t.Context(), "image")
			if err != nil {
				t.Fatal(err)
			}
			got += string(v.([]byte))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
