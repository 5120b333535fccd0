package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/larder-data/larder/cli"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// TestRun checks that a flow reads rows from gs://, and that a second run only checks whether they changed.
func TestRun(t *testing.T) {
	var behind http.Handler
	s := objectstoretest.Front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { behind.ServeHTTP(w, r) }))
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, PublicHost: strings.TrimPrefix(s.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Stop)
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	behind = fake.HTTPHandler()
	t.Setenv("STORAGE_EMULATOR_HOST", s.URL)
	want := `{"text":"a"}` + "\n" + `{"text":"b"}` + "\n"
	fake.CreateObject(fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: "notes.jsonl"}, Content: []byte(want)})
	dir := t.TempDir()
	flow := filepath.Join(dir, "flow.yaml")
	if err := os.WriteFile(flow, []byte("version: 1\nnodes:\n  notes: {source: jsonl, with: {path: \"gs://bucket/notes.jsonl\"}}\n  out: {sink: jsonl, from: notes, with: {path: out.jsonl, overwrite: replace}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for run, most := range []int{4, 1} {
		s.Requests()
		var stdout, stderr bytes.Buffer
		if status := cli.Main([]string{"run", flow, "--cache", filepath.Join(dir, "cache"), "--progress", "none"}, &stdout, &stderr); status != 0 {
			t.Fatalf("status %d\n%s", status, &stderr)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "out.jsonl")); err != nil || string(b) != want {
			t.Errorf("%q, %v", b, err)
		}
		if r := s.Requests(); len(r) > most || len(r) == 0 {
			t.Errorf("run %d: %v", run, r)
		}
	}
}
