package flow_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/flow"
)

// bomb writes a file.
func bomb(t *testing.T, path string, write func(w io.Writer) error) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestItemsAreBounded checks that a file that decompresses beyond the bound is an error
// that names the bound, before memory is allocated, for all readers and writers. A larger
// bound accepts it.
func TestItemsAreBounded(t *testing.T) {
	const most, large = 1 << 20, 16 << 20
	dir := t.TempDir()
	text := strings.Repeat("a", large)
	packed := func(write func(w io.Writer) error) func(w io.Writer) error {
		return func(w io.Writer) error {
			z := gzip.NewWriter(w)
			return errors.Join(write(z), z.Close())
		}
	}
	archive := func(members int) func(w io.Writer) error {
		return func(w io.Writer) error {
			a := tar.NewWriter(w)
			part := text[:large/members]
			for i := range members {
				if err := a.WriteHeader(&tar.Header{Name: fmt.Sprintf("0.text%d.txt", i), Mode: 0o600, Size: int64(len(part)), Format: tar.FormatUSTAR}); err != nil {
					return err
				}
				if _, err := io.WriteString(a, part); err != nil {
					return err
				}
			}
			return a.Close()
		}
	}
	line := func(format string) func(w io.Writer) error {
		return func(w io.Writer) error { _, err := fmt.Fprintf(w, format, text); return err }
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	bomb(t, at("a.tar.gz"), packed(archive(1)))
	bomb(t, at("many.tar.gz"), packed(archive(64)))
	bomb(t, at("a.jsonl.gz"), packed(line("{\"text\": %q}\n")))
	bomb(t, at("a.csv.gz"), packed(line("text\n%s\n")))
	bomb(t, at("a.txt.gz"), packed(line("%s\n")))
	bomb(t, at("a.zip"), func(w io.Writer) error {
		z := zip.NewWriter(w)
		m, err := z.Create("0.text.txt")
		if err == nil {
			_, err = io.WriteString(m, text)
		}
		return errors.Join(err, z.Close())
	})
	l, err := larder.Open(larder.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	run := func(source, sink string) error {
		nodes, from := "", "in"
		if strings.Contains(source, "stream") {
			nodes, from = "  all: {op: materialise, from: in}\n", "all"
		}
		f, err := flow.Parse(at("flow.yaml"), []byte("version: 1\nnodes:\n  in: {source: "+source+"}\n"+nodes+"  out: {sink: "+sink+", from: "+from+"}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Run(t.Context(), flow.RunOptions{Larder: l})
		return err
	}
	for _, c := range []string{"parquet, with: {path: a.parquet}", "tfrecord, with: {path: a.tfrecord.gz}"} {
		if err := run("text, with: {path: a.txt.gz}", c); err != nil {
			t.Fatal(err)
		}
	}
	defer codec.MaxItem.Store(0)
	for i, source := range []string{
		"webdataset, with: {path: a.tar.gz}", "webdataset, with: {path: a.tar.gz, stream: true}", "webdataset, with: {path: many.tar.gz, stream: true}",
		"zip, with: {path: a.zip}", "jsonl, with: {path: a.jsonl.gz}", "jsonl, with: {path: a.jsonl.gz, stream: true}",
		"csv, with: {path: a.csv.gz}", "csv, with: {path: a.csv.gz, stream: true}", "text, with: {path: a.txt.gz}", "text, with: {path: a.txt.gz, stream: true}",
		"parquet, with: {path: a.parquet}", "tfrecord, with: {path: a.tfrecord.gz}",
	} {
		sinks := []string{"underfolder", "jsonl"}
		if strings.Contains(source, "tfrecord") {
			sinks = sinks[:1] // bytes, which JSON lines cannot hold
		}
		for k, sink := range sinks {
			to := fmt.Sprintf("%s, with: {path: out%d.%d}", sink, i, k)
			codec.MaxItem.Store(most)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := run(source, to)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "--max-item") {
				t.Errorf("%s to %s: %v", source, sink, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > large/2 {
				t.Errorf("%s to %s: %d bytes were allocated", source, sink, took)
			}
		}
		codec.MaxItem.Store(2 * large)
		if err := run(source, fmt.Sprintf("%s, with: {path: whole%d}", sinks[0], i)); err != nil {
			t.Errorf("%s with a larger bound: %v", source, err)
		}
	}
}
