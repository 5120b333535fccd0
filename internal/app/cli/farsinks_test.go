package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	_ "github.com/larder-data/larder/objectstore/s3"
)

// puts counts the writing requests since the last call.
func puts(s *objectstoretest.Server) (n int) {
	for _, r := range s.Requests() {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			n++
		}
	}
	return n
}

// TestFarRoundTrip checks that a flow's output at a URL has the bytes of the local output
// and reads the same. A second run sends nothing, and a dry run sends no request.
func TestFarRoundTrip(t *testing.T) {
	testrand.Long(t)
	for _, f := range append([]struct{ name, file, with string }{{"arrow", "a.arrow", ""}, {"arrow", "a.arrows", ""}}, farFormats...) {
		if strings.HasSuffix(f.file, ".tar.gz") {
			continue // an input, not an output
		}
		t.Run(f.file, func(t *testing.T) {
			b := newBench(t)
			s, o := objectstoretest.S3(t)
			b.write("rows.jsonl", farRows(300))
			flow := "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: rows.jsonl}}\n  out: {sink: %s, from: rows, with: {path: '%s', overwrite: replace}}\n"
			b.write("here.yaml", fmt.Sprintf(flow, f.name, f.file))
			b.write("there.yaml", fmt.Sprintf(flow, f.name, "s3://bucket/out/"+f.file))
			b.must("run here.yaml --progress none")
			b.must("run there.yaml --dry-run")
			b.must("lint there.yaml")
			if n := s.Requests(); len(n) != 0 {
				t.Fatalf("a dry run requested %v", n)
			}
			r := b.runFlow("there.yaml", "--progress", "none")
			want := readFile(t, b.path(f.file))
			if got := o.Get("bucket/out/" + f.file); !bytes.Equal(got, want) || puts(s) != 1 {
				t.Fatalf("there are %d bytes, here %d", len(got), len(want))
			}
			if n := r.node(t, "out"); n.BytesWritten != int64(len(want)) || n.Computed != 300 {
				t.Errorf("%+v", n)
			}
			r = b.runFlow("there.yaml", "--progress", "none")
			if n := r.node(t, "out"); n.BytesWritten != 0 || n.Computed != 0 || n.FromStore != 300 || puts(s) != 0 {
				t.Errorf("again: %+v", n)
			}
			read := "version: 1\nnodes:\n  rows: {source: %s, with: {path: '%s'%s}}\n  out: {sink: jsonl, from: rows, with: {path: %s.jsonl}}\n"
			b.write("read-here.yaml", fmt.Sprintf(read, f.name, f.file, f.with, "from-here"))
			b.write("read-there.yaml", fmt.Sprintf(read, f.name, "s3://bucket/out/"+f.file, f.with, "from-there"))
			b.must("run read-here.yaml --progress none")
			b.must("run read-there.yaml --progress none")
			if got, want := readFile(t, b.path("from-there.jsonl")), readFile(t, b.path("from-here.jsonl")); !bytes.Equal(got, want) || len(want) == 0 {
				t.Errorf("from there %d bytes are read, from here %d", len(got), len(want))
			}
		})
	}
}

// TestKilledAmongFarShards checks that a killed run leaves whole shards, and that the next
// run sends only the rest.
func TestKilledAmongFarShards(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	s, o := objectstoretest.S3(t)
	deadly := b.log + "-deadly"
	sharded := strings.Replace(deadlyFlow, "path: out.jsonl", "path: PLACE, shard-bytes: 1KiB", 1)
	b.write("flow.yaml", strings.NewReplacer("DEADLY", deadly, "PLACE", "'s3://bucket/out/'").Replace(sharded))
	b.write("whole.yaml", strings.NewReplacer("DEADLY", deadly+"-never", "PLACE", "whole").Replace(sharded))
	b.write("in.jsonl", farRows(300)+"{\"text\": \"last\"}\n")
	b.must("run whole.yaml --progress none")
	want := tree(t, b.path("whole"))
	if err := os.WriteFile(deadly, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := b.command("run", "flow.yaml").Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the run was not killed: %v", err)
	}
	if err := os.Remove(deadly); err != nil {
		t.Fatal(err)
	}
	begun := farTree(o, "out")
	wholes(t, begun, want)
	if len(begun) < 2 || len(begun) >= len(want) {
		t.Fatalf("%d of %d shards were there when the run was killed", len(begun), len(want))
	}
	s.Requests()
	b.must("run flow.yaml --progress none")
	if n := puts(s); n != len(want)-len(begun) {
		t.Errorf("%d were sent, where %d of %d were there", n, len(begun), len(want))
	}
	sameTree(t, "what is there", farTree(o, "out"), want)
	b.must("run flow.yaml --progress none")
	if n := puts(s); n != 0 {
		t.Errorf("%d were sent again", n)
	}
}

// farTree returns the objects in a directory of bucket, by name.
func farTree(o *objectstoretest.Objects, dir string) map[string]string {
	all := map[string]string{}
	for _, name := range o.Names() {
		if file, ok := strings.CutPrefix(name, "bucket/"+dir+"/"); ok {
			all[file] = string(o.Get(name))
		}
	}
	return all
}

// wholes checks that each file is one of the expected ones.
func wholes(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, content := range got {
		if content != want[name] {
			t.Errorf("%s has %d bytes, and should have %d", name, len(content), len(want[name]))
		}
	}
}

// TestKilledWhileSending checks that a kill at any moment leaves only whole objects, and
// that the next run completes them.
func TestKilledWhileSending(t *testing.T) {
	b := newBench(t)
	s, o := objectstoretest.S3(t)
	b.write("in.jsonl", farRows(300))
	flow := "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: in.jsonl}}\n  out: {sink: jsonl, from: rows, with: {path: '%s', overwrite: replace, shard-samples: 20}}\n"
	b.write("here.yaml", fmt.Sprintf(flow, "whole"))
	b.must("run here.yaml --progress none")
	want := tree(t, b.path("whole"))
	random := testrand.New(t)
	for i := range testrand.Rounds(4, 20) {
		dir := fmt.Sprintf("out%d", i)
		b.write("flow.yaml", fmt.Sprintf(flow, "s3://bucket/"+dir+"/"))
		c := b.command("run", "flow.yaml", "--progress", "none")
		at := random.IntN(2 * len(want))
		var once sync.Once
		s.Requests()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
			if n >= at {
				once.Do(func() { _ = c.Process.Kill() }) // it may have ended
			}
			return objectstoretest.Fault{}
		})
		if err := c.Wait(); err == nil {
			t.Fatalf("it was not killed at request %d", at)
		}
		s.Fail(nil)
		wholes(t, farTree(o, dir), want)
		b.must("run flow.yaml --progress none")
		sameTree(t, "what is there", farTree(o, dir), want)
	}
}

// TestTwoWriteOnePlaceThere checks two programs that concurrently write one object with
// separate caches. One fails because the object changed, and the object is all the other's.
func TestTwoWriteOnePlaceThere(t *testing.T) {
	s, o := objectstoretest.S3(t)
	for _, path := range []string{"s3://bucket/one.jsonl", "s3://bucket/old.jsonl"} {
		at := strings.TrimPrefix(path, "s3://")
		if strings.Contains(at, "old") {
			o.Put(at, []byte("old\n"))
		}
		var writing sync.WaitGroup
		writing.Add(2)
		s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
			if r.Method == http.MethodPut && !strings.Contains(r.URL.Path, "done") {
				writing.Done()
				writing.Wait() // both have seen the object
			}
			return objectstoretest.Fault{}
		})
		var g sync.WaitGroup
		results, texts := make([]result, 2), make([]string, 2)
		for i := range 2 {
			b := newBench(t)
			texts[i] = fmt.Sprintf("{\"text\":\"%s\"}\n", strings.Repeat(fmt.Sprint(i), 100_000))
			b.write("in.jsonl", texts[i])
			b.write("flow.yaml", "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: in.jsonl}}\n  out: {sink: jsonl, from: rows, with: {path: '"+path+"', overwrite: replace}}\n")
			g.Go(func() { results[i] = b.larder("run", "flow.yaml", "--progress", "none") })
		}
		g.Wait()
		s.Fail(nil)
		won := 0
		if results[0].status != 0 {
			won = 1
		}
		lost := results[1-won]
		if results[won].status != 0 || lost.status != 1 || string(o.Get(at)) != texts[won] {
			t.Fatalf("%s: status %d and %d, %d bytes are there: %s%s", path, results[0].status, results[1].status, len(o.Get(at)), results[0].stderr, results[1].stderr)
		}
		mustContain(t, "the error", lost.stderr, path, "changed", "another writer", "node out")
	}
}

// TestFarIsNotWrittenWhereItIsRead checks that a flow that reads its own output, in any
// spelling, and two sinks with one output are refused before any request.
func TestFarIsNotWrittenWhereItIsRead(t *testing.T) {
	s, _ := objectstoretest.S3(t)
	endpoint := s.URL
	for _, c := range []struct{ reads, writes, with string }{
		{"s3://bucket/a.jsonl", "s3://bucket/a.jsonl", ""},
		{"s3://bucket/a.jsonl", "S3://bucket/%61.jsonl", ""},
		{"s3://bucket/a.jsonl?versionId=7", "s3://bucket/a.jsonl", ""},
		{"s3://bucket/x/../a.jsonl", "s3://bucket//a.jsonl", ""},
		{"s3://bucket/part-{00..20}.jsonl", "s3://bucket/part-07.jsonl", ""},
		{"s3://bucket/{a,b}/c.jsonl", "s3://bucket/b/c.jsonl", ""},
		{"s3://bucket/dir/", "s3://bucket/dir/a.jsonl", ""},
		{"s3://bucket/dir/", "s3://bucket/dir", ", shard-samples: 7"},
		{"s3://bucket/dir/a.jsonl", "s3://bucket/dir/", ", shard-samples: 7"},
		{"s3://bucket/dir/{000000..000003}.jsonl", "s3://bucket/dir/", ", shard-samples: 7"},
		{endpoint + "/bucket/a.jsonl", "s3://bucket/a.jsonl", ""},
		{"https://bucket.s3.eu-west-1.amazonaws.com:443/a.jsonl?X-Amz-Signature=hunter2", "s3://bucket/a.jsonl", ""},
	} {
		b := newBench(t)
		b.write("flow.yaml", fmt.Sprintf("version: 1\nnodes:\n  rows: {source: jsonl, with: {path: '%s'}}\n  out: {sink: jsonl, from: rows, with: {path: '%s', overwrite: replace%s}}\n", c.reads, c.writes, c.with))
		r := b.larder("run", "flow.yaml")
		if r.status != 2 || strings.Contains(r.stderr, "hunter2") {
			t.Errorf("%s, %s: status %d: %s", c.reads, c.writes, r.status, r.stderr)
		}
		mustContain(t, "the error", r.stderr, "refusing to write", "node rows reads", "an input is never overwritten")
	}
	for _, second := range []string{"s3://bucket/out.jsonl", "s3://bucket/%6fut.jsonl", "s3://bucket/./out.jsonl"} {
		b := newBench(t)
		b.write("in.jsonl", farRows(3))
		b.write("flow.yaml", "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: in.jsonl}}\n  out: {sink: jsonl, from: rows, with: {path: 's3://bucket/out.jsonl'}}\n  more: {sink: text, from: rows, with: {path: '"+second+"'}}\n")
		for _, command := range []string{"run flow.yaml", "lint flow.yaml"} {
			r := b.larder(words(command)...)
			if r.status != 2 {
				t.Errorf("%s, %s: status %d: %s", command, second, r.status, r.stderr)
			}
			mustContain(t, "the error", r.stderr, "would both write s3://bucket/")
		}
	}
	if n := s.Requests(); len(n) != 0 {
		t.Errorf("%v was requested", n)
	}
}

// TestFarPlacesOfTheShell checks that -o accepts one or several URLs. It refuses two
// outputs at one URL, and formats that cannot write URLs.
func TestFarPlacesOfTheShell(t *testing.T) {
	b := newBench(t)
	s, o := objectstoretest.S3(t)
	b.write("in.jsonl", farRows(10))
	b.must("op clone -i jsonl:in.jsonl -o jsonl:s3://bucket/all.jsonl --progress none")
	b.must("op split --sizes '{train: 0.5, test: 0.5}' -i jsonl:in.jsonl -o.train jsonl:s3://bucket/train.jsonl.gz -o.test parquet:s3://bucket/test.parquet --progress none")
	if got := fmt.Sprint(o.Names()); got != "[bucket/all.jsonl bucket/test.parquet bucket/train.jsonl.gz]" {
		t.Errorf("there is %s", got)
	}
	b.must("op clone -i jsonl:in.jsonl -o csv:local.csv --progress none")
	s.Requests()
	for args, want := range map[string]string{
		"op clone -i jsonl:in.jsonl -o s3://bucket/a":                                                                  "a URL needs a format",
		"op clone -i jsonl:in.jsonl -o underfolder:s3://bucket/a":                                                      "local files only",
		"op clone -i jsonl:in.jsonl -o images:s3://bucket/a":                                                           "local files only",
		"op clone -i jsonl:in.jsonl -o jsonl:http://me:hunter2@host/a.jsonl":                                           "cannot write over http",
		"op clone -i jsonl:in.jsonl -o jsonl:s3://bucket/new.jsonl --report s3://me:hunter2@bucket/report.json":        "a file of this machine only",
		"op split --sizes '{a: 0.5, b: 0.5}' -i jsonl:in.jsonl -o.a jsonl:s3://bucket/x -o.b jsonl:s3://bucket/y/../x": "the same path",
	} {
		if r := b.larder(words(args)...); r.status != 2 || !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "hunter2") {
			t.Errorf("%s: status %d: %s", args, r.status, r.stderr)
		}
	}
	r := b.larder("op", "clone", "-i", "jsonl:in.jsonl", "-o", "jsonl:s3://bucket/all.jsonl", "--progress", "none")
	if r.status == 0 || puts(s) != 0 {
		t.Errorf("what is there is replaced: %s", r.stderr)
	}
	mustContain(t, "the error", r.stderr, "s3://bucket/all.jsonl already exists")
}

// TestFarSinksAreAudited checks that the audit of a flow lists where it would write.
func TestFarSinksAreAudited(t *testing.T) {
	b := newBench(t)
	s, _ := objectstoretest.S3(t)
	b.write("in.jsonl", farRows(3))
	b.write("flow.yaml", "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: in.jsonl}}\n  out: {sink: jsonl, from: rows, with: {path: 's3://bucket/out.jsonl', overwrite: replace}}\n")
	for _, args := range []string{"audit flow.yaml", "audit flow.yaml --json", "tree flow.yaml", "run flow.yaml --dry-run"} {
		r := b.larder(words(args)...)
		if r.status != 0 || strings.Contains(r.stdout, "s3:/b") || strings.HasPrefix(args, "audit") && !strings.Contains(r.stdout, "s3://bucket/out.jsonl") {
			t.Errorf("%s: status %d: %s%s", args, r.status, r.stdout, r.stderr)
		}
	}
	if n := s.Requests(); len(n) != 0 {
		t.Errorf("%v was requested", n)
	}
}

// TestInterruptedWhileSending checks that an interrupted multipart upload leaves neither
// the object nor its parts.
func TestInterruptedWhileSending(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	s, o := objectstoretest.S3(t)
	b.write("in.jsonl", strings.Repeat("{\"text\": \""+strings.Repeat("x", 1<<20)+"\"}\n", 70))
	b.write("flow.yaml", "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: in.jsonl}}\n  out: {sink: jsonl, from: rows, with: {path: 's3://bucket/out.jsonl'}}\n")
	c := b.command("run", "flow.yaml", "--progress", "none")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
		if r.URL.Query().Get("partNumber") == "3" {
			once.Do(func() { _ = c.Process.Signal(os.Interrupt) })
			return objectstoretest.Fault{Take: 1000, Stall: true}
		}
		return objectstoretest.Fault{}
	})
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != 130 {
		t.Errorf("%v", err)
	}
	s.Fail(nil)
	if n := o.Unfinished(); n != 0 || len(o.Names()) != 0 {
		t.Errorf("%d files of parts are left, and there is %v", n, o.Names())
	}
	b.must("run flow.yaml --progress none")
	if got := o.Get("bucket/out.jsonl"); bytes.Count(got, []byte("\n")) != 70 {
		t.Errorf("there are %d bytes", len(got))
	}
}

// TestFullDiskWhileStaging checks that without disk space for staging nothing is sent, and
// that the error names the directory. Shards need space for one only.
func TestFullDiskWhileStaging(t *testing.T) {
	b := newBench(t)
	s, o := objectstoretest.S3(t)
	small := b.path("small")
	mountTmpfs(t, small, "size=1m")
	b.write("in.jsonl", farRows(30_000))
	flow := "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: in.jsonl}}\n  out: {sink: jsonl, from: rows, with: {path: 's3://bucket/%s'%s}}\n"
	b.write("one.yaml", fmt.Sprintf(flow, "out.jsonl", ""))
	b.write("shards.yaml", fmt.Sprintf(flow, "out/", ", shard-bytes: 300kB"))
	t.Setenv("TMPDIR", small)
	r := b.larder("run", "one.yaml", "--progress", "none")
	if r.status != 1 || puts(s) != 0 || len(o.Names()) != 0 {
		t.Errorf("status %d, there is %v: %s", r.status, o.Names(), r.stderr)
	}
	mustContain(t, "the error", r.stderr, "s3://bucket/out.jsonl", "no space left", "TMPDIR")
	if left, err := os.ReadDir(small); err != nil || len(left) != 0 {
		t.Errorf("%v is left: %v", left, err)
	}
	b.must("run shards.yaml --progress none")
	var all bytes.Buffer
	for _, name := range o.Names() {
		all.Write(o.Get(name))
	}
	if n := bytes.Count(all.Bytes(), []byte("\n")); n != 30_000 {
		t.Errorf("%d lines are there", n)
	}
}
