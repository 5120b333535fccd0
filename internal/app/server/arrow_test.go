package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowRows returns rows with one item of each kind.
func arrowRows(t *testing.T, h *httptest.Server, n int) {
	t.Helper()
	var b bytes.Buffer
	for k := range n {
		seq := make([]int, 1+k%3)
		for i := range seq {
			seq[i] = 10*k + i
		}
		row, err := json.Marshal(map[string]any{"n": k, "x": []int{k, 2 * k}, "seq": seq, "text": fmt.Sprintf("é%d", k), "doc": map[string]any{"k": k}, "even": k%2 == 0, "grid": slices.Repeat([][]int{{k, -k}}, 1+k%2)})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(row, '\n'))
	}
	if err := os.WriteFile(filepath.Join(h.Config.Handler.(*Remote).flows, "rows.jsonl"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func postArrow(t *testing.T, h *httptest.Server, path string, body any) (status int, kind string, reply io.Reader) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	req.Header.Set("Accept", "text/html, "+arrowType+";q=0.9")
	res, err := h.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res.StatusCode, res.Header.Get("Content-Type"), res.Body
}

// columnsOf returns the columns of record batches, each as JSON, and their metadata.
func columnsOf(t *testing.T, body io.Reader) (types map[string]string, columns map[string][]string, metadata []map[string]string) {
	t.Helper()
	r, err := ipc.NewReader(body)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	types, columns = map[string]string{}, map[string][]string{}
	for _, f := range r.Schema().Fields() {
		extension, _ := f.Metadata.GetValue("ARROW:extension:name")
		types[f.Name] = f.Type.String() + extension
	}
	for r.Next() {
		b := r.RecordBatch()
		for i, c := range b.Columns() {
			text, err := c.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			columns[b.ColumnName(i)] = append(columns[b.ColumnName(i)], strings.ReplaceAll(string(text), "\n", ""))
		}
		if m, ok := b.(arrow.RecordBatchWithMetadata); ok {
			pairs := m.Metadata()
			metadata = append(metadata, pairs.ToMap())
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return types, columns, metadata
}

func TestArrowHasWhatBatchesHave(t *testing.T) {
	h := remoteFor(t, 0, testToken)
	arrowRows(t, h, 3)
	open := with(remoteOpen("flow.yaml"), map[string]any{"batch": map[string]any{"size": 2}, "fields": []any{
		map[string]any{"item": "n", "dtype": "int64"}, map[string]any{"item": "n", "name": "small", "dtype": "uint8"},
		map[string]any{"item": "x", "dtype": "float32", "scale": 0.5},
		map[string]any{"item": "seq", "name": "padded", "collate": "pad", "dtype": "int32"}, map[string]any{"item": "seq", "name": "list", "collate": "list"},
		map[string]any{"item": "grid", "collate": "list"}, map[string]any{"item": "grid", "name": "grids", "collate": "pad", "dims": 2}, map[string]any{"item": "even"}, map[string]any{"item": "text"}, map[string]any{"item": "text", "name": "bytes", "collate": "bytes"}, map[string]any{"item": "doc", "collate": "json"},
	}})
	status, kind, reply := postArrow(t, h, "/v1/batches", map[string]any{"open": open, "start": map[string]any{"epochs": 1}})
	if status != http.StatusOK || kind != arrowType {
		t.Fatal(status, kind)
	}
	types, columns, metadata := columnsOf(t, reply)
	for name, want := range map[string][]string{
		"n": {"int64", "[0,1]", "[2]"}, "small": {"uint8", "[0,1]", "[2]"},
		"x":      {"fixed_size_list<item: float32>[2]arrow.fixed_shape_tensor", "[[0,0],[0.5,1]]", "[[1,2]]"},
		"padded": {"list<item: int32>", "[[0,0],[10,11]]", "[[20,21,22]]"}, "padded_lengths": {"int64", "[1,2]", "[3]"},
		"list":  {"list<item: int64>", "[[0],[10,11]]", "[[20,21,22]]"},
		"grid":  {"arrow.variable_shape_tensor", `[{"data":[0,0],"shape":[1,2]},{"data":[1,-1,1,-1],"shape":[2,2]}]`, `[{"data":[2,-2],"shape":[1,2]}]`},
		"grids": {"arrow.variable_shape_tensor", `[{"data":[0,0,0,0],"shape":[2,2]},{"data":[1,-1,1,-1],"shape":[2,2]}]`, `[{"data":[2,-2],"shape":[1,2]}]`}, "grids_lengths": {"fixed_size_list<item: int64>[2]", "[[1,2],[2,2]]", "[[1,2]]"},
		"even": {"bool", "[true,false]", "[true]"},
		"text": {"utf8", `["é0","é1"]`, `["é2"]`}, "bytes": {"binary", `["IsOpMCI=","IsOpMSI="]`, `["IsOpMiI="]`},
		"doc": {"utf8arrow.json", `["{\"k\":0}","{\"k\":1}"]`, `["{\"k\":2}"]`},
	} {
		got := append([]string{types[name]}, columns[name]...)
		if !strings.Contains(got[0], want[0]) || strings.Join(got[1:], " ") != strings.Join(want[1:], " ") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(metadata) != 2 || metadata[0]["larder.samples"] != "[0,1]" || metadata[1]["larder.epoch"] != "0" || metadata[1]["larder.padding"] != "0" {
		t.Fatalf("metadata %v", metadata)
	}
	// It continues from the state after the first batch.
	_, _, reply = postArrow(t, h, "/v1/batches", map[string]any{"open": open, "start": map[string]any{"epochs": 1, "from": metadata[0]["larder.state"]}})
	if _, columns, _ := columnsOf(t, reply); strings.Join(columns["n"], " ") != "[2]" {
		t.Errorf("after the first batch: %v", columns["n"])
	}
	_, _, reply = postArrow(t, h, "/v1/samples", map[string]any{"open": open, "samples": []int{2, 0}})
	if _, columns, _ := columnsOf(t, reply); strings.Join(columns["n"], " ") != "[2] [0]" {
		t.Errorf("samples: %v", columns["n"])
	}
}

func TestArrowOfPackedRows(t *testing.T) {
	h := remoteFor(t, 0, testToken)
	arrowRows(t, h, 4)
	open := with(remoteOpen("flow.yaml"), map[string]any{"batch": map[string]any{"size": 2, "row": 4}, "length": map[string]any{"expression": "len(seq)"}, "fields": []any{map[string]any{"item": "seq", "collate": "packed"}}})
	_, _, reply := postArrow(t, h, "/v1/batches", map[string]any{"open": open, "start": map[string]any{"epochs": 1}})
	_, columns, _ := columnsOf(t, reply)
	want := "map[seq:[[[0,10,11,30],[20,21,22,0]]] seq_lengths:[[[1,2,1],[3]]] seq_offsets:[[[0,1,3],[0]]]]"
	if got := fmt.Sprint(columns); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestArrowAtTheEdges checks that too large a padded batch is refused before it is
// allocated, and that an empty sequence at the end of the last row has a position.
func TestArrowAtTheEdges(t *testing.T) {
	h := remoteFor(t, 0, testToken)
	dir := h.Config.Handler.(*Remote).flows
	lines := `{"seq": [1, 2, 3, 4]}` + "\n" + `{"seq": []}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	open := with(remoteOpen("flow.yaml"), map[string]any{"fields": []any{map[string]any{"item": "seq", "collate": "pad", "multiple": 100_000_000, "dtype": "int64"}}})
	status, _, reply := postArrow(t, h, "/v1/batches", map[string]any{"open": open, "start": map[string]any{"epochs": 1}})
	if text, err := io.ReadAll(reply); err != nil || status != http.StatusBadRequest || !strings.Contains(string(text), "take smaller batches") {
		t.Errorf("%d: %.200s: %v", status, text, err)
	}
	open = with(remoteOpen("flow.yaml"), map[string]any{"batch": map[string]any{"size": 1, "row": 4}, "length": map[string]any{"expression": "len(seq)"}, "fields": []any{map[string]any{"item": "seq", "collate": "packed"}}})
	_, _, reply = postArrow(t, h, "/v1/batches", map[string]any{"open": open, "start": map[string]any{"epochs": 1}})
	_, columns, _ := columnsOf(t, reply)
	want := "map[seq:[[[1,2,3,4]]] seq_lengths:[[[4,0]]] seq_offsets:[[[0,4]]]]"
	if got := fmt.Sprint(columns); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestArrowFails checks that an error before the first batch has a status and a message,
// and that a later one breaks the stream off.
func TestArrowFails(t *testing.T) {
	h := remoteFor(t, 0, testToken)
	arrowRows(t, h, 3)
	for _, c := range []struct {
		open   map[string]any
		start  map[string]any
		status int
		text   string
	}{
		{remoteOpen("no.yaml"), nil, http.StatusBadRequest, `"request"`},
		{with(remoteOpen("flow.yaml"), map[string]any{"fields": []any{map[string]any{"item": "seq", "collate": "stack"}}}), nil, http.StatusInternalServerError, `"data"`},
		{remoteOpen("flow.yaml"), map[string]any{"from": "1.AAAAAAAAAAAAAAAAAAAA.0.0.0"}, http.StatusConflict, `"state"`},
	} {
		status, _, reply := postArrow(t, h, "/v1/batches", map[string]any{"open": c.open, "start": c.start})
		text, err := io.ReadAll(reply)
		if err != nil || status != c.status || !strings.Contains(string(text), c.text) {
			t.Errorf("%d: %s: %v", status, text, err)
		}
	}
	// The first batch has lists of one length, the second one of another.
	open := with(remoteOpen("flow.yaml"), map[string]any{"batch": map[string]any{"size": 1}, "fields": []any{map[string]any{"item": "seq"}}})
	status, _, reply := postArrow(t, h, "/v1/batches", map[string]any{"open": open, "start": map[string]any{"epochs": 1}})
	if text, err := io.ReadAll(reply); err == nil || status != http.StatusOK || len(text) == 0 {
		t.Errorf("%d: %q: %v", status, text, err)
	}
}
