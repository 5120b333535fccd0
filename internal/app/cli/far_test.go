package cli_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// farFormats has sinks that write a file, and sources that read it remotely.
var farFormats = []struct{ name, file, with string }{
	{"webdataset", "a.tar", ""},
	{"webdataset", "b.tar.gz", ""}, // compressed by the test
	{"tfrecord", "a.tfrecord", ", formats: {text: txt}"},
	{"text", "a.txt", ""},
	{"parquet", "a.parquet", ""},
	{"jsonl", "a.jsonl", ""},
	{"jsonl", "a.jsonl.zst", ""},
	{"csv", "a.csv", ""},
}

// farRows returns lines of JSON with strings.
func farRows(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, `{"text": "line %d %s"}`+"\n", i, strings.Repeat("x", i%50))
	}
	return all.String()
}

// TestFarFiles checks that a flow gives the same results for a file at a URL as for the
// local file, in any order. Another run only checks whether the file changed.
func TestFarFiles(t *testing.T) {
	testrand.Long(t)
	for _, f := range farFormats {
		t.Run(f.file, func(t *testing.T) {
			b := newBench(t)
			b.write("rows.jsonl", farRows(300))
			b.write("write.yaml", fmt.Sprintf("version: 1\nnodes:\n  rows: {source: jsonl, with: {path: rows.jsonl}}\n  out: {sink: %s, from: rows, with: {path: %s}}\n", f.name, strings.TrimSuffix(f.file, ".gz")))
			if r := b.larder("run", "write.yaml"); r.status != 0 {
				t.Fatal(r.stderr)
			}
			content, err := os.ReadFile(b.path(strings.TrimSuffix(f.file, ".gz")))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(f.file, ".gz") {
				var packed bytes.Buffer
				z := gzip.NewWriter(&packed)
				if _, err := z.Write(content); err != nil || z.Close() != nil {
					t.Fatal(err)
				}
				content = packed.Bytes()
				b.write(f.file, packed.String())
			}
			s := objectstoretest.Serve(t)
			url := strings.Replace(s.Put(f.file, content), "://", "://me:hunter2@", 1) + "?token=hunter2"
			run := func(out, path string) string {
				t.Helper()
				b.write(out+".yaml", fmt.Sprintf(`version: 1
nodes:
  rows: {source: %s, with: {path: %q%s}}
  mixed: {op: shuffle, from: rows, with: {seed: 7}}
  long: {map: compute, from: mixed, with: {set: {long: 'len(text) > 20'}}, keep: true}
  out: {sink: jsonl, from: long, with: {path: %s.jsonl, overwrite: replace}}
`, f.name, path, f.with, out))
				r := b.larder("run", out+".yaml", "--report", out+".json")
				if r.status != 0 {
					t.Fatal(r.stderr)
				}
				report, err := os.ReadFile(b.path(out + ".json"))
				if all := r.stdout + r.stderr + string(report); err != nil || strings.Contains(all, "hunter2") {
					t.Errorf("%v; a secret is printed: %s", err, all)
				}
				made, err := os.ReadFile(b.path(out + ".jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				return string(made)
			}
			here := run("here", f.file)
			if there := run("there", url); there != here || strings.Count(here, "\n") != 300 {
				t.Errorf("of the file here %d bytes were made, of the one there %d", len(here), len(there))
			}
			s.Requests()
			s.Sent()
			again := run("there", url)
			if n, sent := s.Requests(), s.Sent(); again != here || len(n) != 1 || sent != 1 {
				t.Errorf("another run requested %v and was sent %d bytes", n, sent)
			}
			s.Put(f.file, append([]byte("\n"), content...))
			if r := b.larder("run", "there.yaml"); f.name != "text" && f.name != "jsonl" && f.name != "csv" && r.status == 0 || strings.Contains(r.stderr, "hunter2") {
				t.Errorf("another file is treated as the old one: %s", r.stderr)
			}
		})
	}
}

// TestFarRefused checks that unsupported or unreadable URLs are errors before anything
// runs, without credentials in the messages.
func TestFarRefused(t *testing.T) {
	s := objectstoretest.Serve(t)
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Status: 403} })
	host := strings.Replace(s.URL, "://", "://me:hunter2@", 1)
	for flow, want := range map[string]string{
		"rows: {source: underfolder, with: {path: '" + host + "/a'}}":                                                                  "local files only",
		"rows: {source: webdataset, with: {path: 'gs://me:hunter2@bucket/a.tar'}}":                                                     "cannot read gs://",
		"rows: {source: webdataset, with: {path: '" + host + "/a-{0..1}.tar?token=hunter2'}}":                                          "403 forbidden",
		"rows: {source: webdataset, with: {path: '" + host + "/dir/?token=hunter2'}}":                                                  "name the files by a pattern",
		"rows: {source: webdataset, with: {path: '" + host + "/a-{0.tar?token=hunter2'}}":                                              "has { without }; close it",
		"rows: {source: text, with: {path: a.txt}}\n  out: {sink: text, from: rows, with: {path: '" + host + "/a.txt?token=hunter2'}}": "cannot write over http",
	} {
		b := newBench(t)
		b.write("a.txt", "one\n")
		b.write("flow.yaml", "version: 1\nnodes:\n  "+flow+"\n  end: {sink: text, from: rows, with: {path: out.txt}}\n")
		r := b.larder("run", "flow.yaml")
		if r.status == 0 || !strings.Contains(r.stderr, want) || strings.Contains(r.stdout+r.stderr, "hunter2") {
			t.Errorf("%s: status %d: %s", flow, r.status, r.stderr)
		}
	}
}

// TestFarAudit checks that the audit of a flow lists the hosts that it would contact,
// without secrets.
func TestFarAudit(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", "version: 1\nnodes:\n  rows: {source: text, with: {path: 'http://me:hunter2@host/a.txt?hunter2'}}\n  end: {sink: text, from: rows, with: {path: out.txt}}\n")
	for _, args := range []string{"audit flow.yaml", "audit flow.yaml --json"} {
		if r := b.larder(words(args)...); r.status != 0 || !strings.Contains(r.stdout, "http://host/a.txt") || strings.Contains(r.stdout+r.stderr, "hunter2") {
			t.Errorf("%s: status %d: %s%s", args, r.status, r.stdout, r.stderr)
		}
	}
}

// TestFarSecrets checks that errors of wrong arguments, and of the variables that hold
// credentials, do not show them.
func TestFarSecrets(t *testing.T) {
	b := newBench(t)
	for _, in := range []string{
		"jsonl:http://me:hunter2@127.0.0.1:bad/x.jsonl?sig=hunter2", "jsonl:http://me:a hunter2@127.0.0.1:1/x.jsonl?sig=hunter2",
		"jsonl:http://me:hunter2@h/x{1..a.jsonl?sig=hunter2", "jsonl:http://me:hunter2@h/x.jsonl?sig=hunter2,nope=1", "underfolder:http://me:hunter2@h/x?sig=hunter2",
		"http://me:hunter2@h/x.jsonl?sig=hunter2", "jsonl:ftp://me:hunter2@h/x.jsonl?sig=hunter2", "jsonl:http:/me:hunter2@h/x.jsonl?sig=hunter2",
		"jsonl: http://me:hunter2@h/x.jsonl?sig=hunter2", "jsonl:http://me:a/hunter2@127.0.0.1/x", "jsonl:http://me:a?hunter2@127.0.0.1/x",
	} {
		r := b.larder("op", "clone", "-i", in, "-o", "jsonl:-", "--progress", "none")
		if r.status == 0 || strings.Contains(r.stdout+r.stderr, "hunter2") || !strings.HasPrefix(in, "underfolder") && strings.Contains(r.stderr, "underfolder:http") {
			t.Errorf("%s: status %d: %s", in, r.status, r.stderr)
		}
	}
	if r := b.larder("run", "http://me:hunter2@h/x.yaml?sig=hunter2"); r.status == 0 || strings.Contains(r.stderr, "hunter2") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	b.write("flow.yaml", "version: 1\nvars: {user: '', host: h, api_token: ''}\nnodes:\n  rows: {source: text, with: {path: 'http://${user}@${host}/a.txt?token=$api_token'}}\n  end: {sink: text, from: rows, with: {path: out.txt}}\n")
	for _, args := range []string{"audit flow.yaml", "audit flow.yaml --json"} {
		r := b.larder(append(words(args), "--set", "user=me:hunter2", "--set", "api_token=hunter2", "--set", "host=shown.example")...)
		if r.status != 0 || !strings.Contains(r.stdout, "*****") || !strings.Contains(r.stdout, "shown.example") || strings.Contains(r.stdout+r.stderr, "hunter2") {
			t.Errorf("%s: status %d: %s%s", args, r.status, r.stdout, r.stderr)
		}
	}
}

// TestCommasInURLs checks that the part of a URL after a comma is hidden as well as the
// rest.
func TestCommasInURLs(t *testing.T) {
	b := newBench(t)
	for _, url := range []string{"http://127.0.0.1:1/a.jsonl?token=abc,hunter2", "http://joe:x,hunter2@127.0.0.1:1/a.jsonl", "http://127.0.0.1:1/a.jsonl?token=abc,hunter2=4", "http://127.0.0.1:1/a.jsonl?token=abc,a=hunter2"} {
		r := b.larder("map", "keep-keys", "--keys", "n", "-i", "jsonl:"+url, "-o", "jsonl:out.jsonl")
		if r.status != 2 || strings.Contains(r.stdout+r.stderr, "hunter2") || !strings.Contains(r.stderr, "write a comma in a URL twice") {
			t.Errorf("%s: %d: %s", url, r.status, r.stderr)
		}
	}
}
