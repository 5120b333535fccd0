package flow_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	_ "github.com/larder-data/larder/format/arrow"
	_ "github.com/larder-data/larder/format/parquet"
	_ "github.com/larder-data/larder/format/tfrecord"
	_ "github.com/larder-data/larder/format/webdataset"
	_ "github.com/larder-data/larder/format/zip"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"
)

// zipped returns an archive of text files.
func zipped(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		to, err := w.Create(fmt.Sprintf("%03d.txt", i))
		if err == nil {
			_, err = fmt.Fprintf(to, "line %03d", i)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// evicted removes the blocks of files from a store, as a full store evicts large results
// that are cheap to get again.
func evicted(t *testing.T, s *memory.Store) {
	t.Helper()
	var gone []key.Key
	reader := records.ProvenanceReader{Store: s}
	for info, err := range s.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Provenance(t.Context(), info.Key)
		if err != nil {
			t.Fatal(err)
		}
		if op, _ := reader.Operation(t.Context(), b); op == "block of a file at a place" {
			gone = append(gone, info.Key)
		}
	}
	if len(gone) == 0 {
		t.Fatal("no block of the file was cached")
	}
	if err := s.Delete(t.Context(), gone...); err != nil {
		t.Fatal(err)
	}
}

// TestWarmRunsAtURLs checks that a run with all results cached requests the version of each
// file but none of its bytes, for every format and after its blocks were evicted. The item
// names of JSON rows and TFRecord records are only in the data, so they are cached or read
// again.
func TestWarmRunsAtURLs(t *testing.T) {
	l := newLines(t, "  in: {source: jsonl, with: {path: in.jsonl}}\n", 50)
	for _, format := range []string{"arrow", "parquet", "tfrecord", "webdataset", "text", "jsonl"} {
		l.nodes += fmt.Sprintf("  %s: {sink: %s, from: in, with: {path: in.%s, overwrite: replace}}\n", format, format, format)
	}
	l.nodes = l.nodes[:len(l.nodes)-len("  jsonl: {sink: jsonl, from: in, with: {path: in.jsonl, overwrite: replace}}\n")]
	l.runIn(flow.RunOptions{Pool: pool.New(2)})
	for format, item := range map[string]string{"arrow": "text", "parquet": "text", "tfrecord": "text", "webdataset": "text", "text": "text", "jsonl": "text", "zip": "txt"} {
		t.Run(format, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(l.dir, "in."+format))
			if format == "zip" {
				content, err = zipped(t, 50), nil
			}
			if err != nil {
				t.Fatal(err)
			}
			s := objectstoretest.Serve(t)
			nodes := fmt.Sprintf(`
  in: {source: %s, with: {path: %q}}
  hashed: {map: hash, from: in, keep: true, with: {items: [%s], into: h}}
  few: {map: keep-keys, from: hashed, with: {keys: [h]}}
  out: {sink: jsonl, from: few, with: {path: %q, overwrite: replace}}
`, format, s.Put("in."+format, content), item, filepath.Join(t.TempDir(), "out.jsonl"))
			cached := memory.New(memory.Options{})
			for _, warm := range []bool{false, true} {
				engine, err := larder.Open(larder.Options{Store: cached})
				if err != nil {
					t.Fatal(err)
				}
				f, err := flow.Parse("flow.yaml", []byte("version: 1\nnodes:"+nodes), nil)
				if err != nil {
					t.Fatal(err)
				}
				r, err := f.Run(t.Context(), flow.RunOptions{Larder: engine, Pool: pool.New(2)})
				if err != nil {
					t.Fatal(err)
				}
				sent, asked := s.Sent(), s.Requests()
				if n := r.Nodes[1]; warm && (n.Computed != 0 || n.FromStore != 50) || !warm && n.Computed != 50 {
					t.Errorf("warm %v: %+v", warm, n)
				}
				if !warm && format != "tfrecord" && format != "jsonl" {
					evicted(t, cached)
				}
				if warm && (sent > 1 || len(asked) > 1) {
					t.Errorf("a warm run had %d bytes sent by %v", sent, asked)
				}
				if !warm && sent == 0 {
					t.Error("a cold run read nothing")
				}
			}
		})
	}
}
