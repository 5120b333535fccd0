package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/app/cli"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/internal/testing/pythontest"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
)

// inProcess runs the program within the test process, with a cache directory.
func inProcess(t *testing.T, cache string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := cli.Main(append(args, "--cache", cache), &stdout, &stderr)
	return result{status: status, stdout: stdout.String(), stderr: stderr.String()}
}

// want compares the whole output of a command; CACHE represents the cache directory.
func (r result) want(t *testing.T, cache string, status int, stdout, stderr string) {
	t.Helper()
	for _, s := range []*string{&r.stdout, &r.stderr} {
		*s = strings.ReplaceAll(*s, cache, "CACHE")
	}
	if r.status != status || r.stdout != stdout || r.stderr != stderr {
		t.Errorf("status %d, want %d\nstdout:\n%s\nwant:\n%s\nstderr:\n%s\nwant:\n%s", r.status, status, r.stdout, stdout, r.stderr, stderr)
	}
}

// made is the creation time of the records of a filled cache.
var made = time.Now().Add(-75 * time.Hour)

// stored returns a record of the named operation, with a value.
func stored[T any](t *testing.T, name string, n int, v T) store.Record {
	t.Helper()
	op, err := key.NewOp(name, key.Version("2"), key.Param{Name: "n", Value: n})
	if err != nil {
		t.Fatal(err)
	}
	a := op.Action(key.Input{Name: "image", Ref: key.Content(key.DigestOf(nil)), Kind: "png/1"})
	value, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	payload, err := value.Encode(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return store.Record{Key: a.Key(), Type: value.Type, Payload: payload, Cost: 1500 * time.Millisecond, Created: made, Provenance: a.MarshalProvenance()}
}

// filledCache is a cache directory with two values of "area", a pinned link to the first of
// them, the digest of a file, and a value of "volume".
func filledCache(t *testing.T) (dir string, first, second, link, volume store.Record) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cache")
	first, second = stored(t, "area", 1, map[string]int{"a": 1}), stored(t, "area", 2, "two")
	volume = stored(t, "volume", 1, strings.Repeat("v", 2048))
	link = stored(t, "area", 3, "")
	link.Link, link.Payload, link.Cost = first.Key, nil, 0
	d := key.DigestOf(nil)
	file := store.Record{Key: key.Key(key.DigestOf([]byte("file"))), Type: 0x66696c6564696765, Payload: d[:], Created: made}
	s, err := disk.Open(disk.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []store.Record{first, second, link, file, volume} {
		if err := s.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutManifest(t.Context(), store.Manifest{Name: "letters#stats", Pinned: true, Keys: []key.Key{link.Key}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, first, second, link, volume
}

const fileDigestsExplained = "(file digests): digests of files, so that unchanged files are not read again\n"

func TestLs(t *testing.T) {
	cache, first, second, link, volume := filledCache(t)
	inProcess(t, cache, "ls").want(t, cache, 0, ""+
		"            node  records  links  pinned    bytes   cost  oldest  newest  last used\n"+
		"            area        2      1       2      7 B  3.00s      3d      3d        <1m\n"+
		"          volume        1      .       .  2.0 KiB  1.50s      3d      3d        <1m\n"+
		"  (file digests)        1      .       .     33 B      .      3d      3d        <1m\n",
		fileDigestsExplained)
	inProcess(t, cache, "ls", "--sort", "size", "area", "volume").want(t, cache, 0, ""+
		"    node  records  links  pinned    bytes   cost  oldest  newest  last used\n"+
		"  volume        1      .       .  2.0 KiB  1.50s      3d      3d        <1m\n"+
		"    area        2      1       2      7 B  3.00s      3d      3d        <1m\n", "")
	short := func(r store.Record) string { return inventory.Short(r.Key) }
	inProcess(t, cache, "ls", "--records", "--sort", "size", "area", short(volume)).want(t, cache, 0, fmt.Sprintf(""+
		"              key    node     size   cost  age  last used                            notes\n"+
		"  %s  volume  2.0 KiB  1.50s   3d        <1m                                .\n"+
		"  %s    area      4 B  1.50s   3d        <1m                           pinned\n"+
		"  %s    area      3 B  1.50s   3d        <1m                                .\n"+
		"  %s    area        .      .   3d        <1m  link to %s, pinned\n",
		short(volume), short(first), short(second), short(link), short(first)), "")
	for _, order := range []string{"name", "size", "age", "used", "cost"} {
		for _, args := range [][]string{{"ls", "--sort", order}, {"ls", "--records", "--sort", order}} {
			if r := inProcess(t, cache, args...); r.status != 0 || strings.Count(r.stdout, "\n") < 4 {
				t.Errorf("%q: status %d\n%s", args, r.status, r.stdout)
			}
		}
	}
}

// TestLsTellsNodesApart checks that nodes of one component are listed by their parameters.
func TestLsTellsNodesApart(t *testing.T) {
	b := newBench(t)
	functions, python := "", pythontest.Have(t)
	if python {
		b.write("fn.py", "def one(metadata):\n    return {'n': 1}\ndef two(metadata):\n    return {'n': 2}\n")
		functions = "  p: {map: python, from: d, with: {function: 'fn:one', items: [metadata], into: [p]}, keep: true}\n" +
			"  q: {map: python, from: p, with: {function: 'fn:two', items: [metadata], into: [q]}, keep: true}\n"
	} else {
		functions = "  q: {op: clone, from: d}\n"
	}
	b.write("flow.yaml", `version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  few: {op: slice, from: letters, with: {stop: 2}}
  a: {map: compute, from: few, with: {set: {a: "1 + 1"}}, keep: true}
  b: {map: compute, from: a, with: {set: {b: "metadata.letter"}}, keep: true}
  c: {map: exec, from: b, with: {command: [sh, -c, 'echo 1 > "$LARDER_OUT/c.json"'], items: [metadata], into: [c]}, keep: true}
  d: {map: exec, from: c, with: {command: [sh, -c, 'echo 2 > "$LARDER_OUT/d.json"'], items: [metadata], into: [d]}, keep: true}
`+functions+`  some: {op: filter, from: q, with: {where: "a == 2"}}
  more: {op: filter, from: some, with: {where: "b != ''"}}
  out: {sink: underfolder, from: more, with: {path: out}}
`)
	b.must("run flow.yaml")
	labels := []string{"compute a = 1 + 1", "compute b = metadata.letter", `exec sh -c echo 1 > "$LARDER_OUT/c.json"`, `exec sh -c echo 2 > "$LARDER_OUT/d.json"`, "filter a == 2", "filter b != ''"}
	if python {
		labels = append(labels, "python fn:one", "python fn:two")
	}
	all := b.larder("ls").stdout
	for _, label := range labels {
		mustContain(t, "ls", all, " "+label+"  ")
		if one := b.larder("ls", label).stdout; strings.Count(one, "\n") != 2 || !strings.Contains(one, label) {
			t.Errorf("ls %q lists %s", label, one)
		}
	}
	if n := strings.Count(b.larder("ls", "exec").stdout, "\n"); n != 3 {
		t.Errorf("ls exec has %d lines, want 3", n)
	}
}

func TestLsJSON(t *testing.T) {
	cache, first, _, link, _ := filledCache(t)
	var nodes []struct {
		Node                          string
		Records, Links, Pinned, Bytes int64
		Cost                          float64 `json:"cost_seconds"`
		Oldest                        time.Time
	}
	parseJSON(t, inProcess(t, cache, "ls", "--json"), &nodes)
	if n := nodes[0]; len(nodes) != 3 || n.Node != "area" || n.Records != 2 || n.Links != 1 || n.Pinned != 2 || n.Bytes != 7 || n.Cost != 3 || !n.Oldest.Equal(made) {
		t.Errorf("%+v", nodes)
	}
	var records []struct {
		Key, Node, Kind, Link string
		Size                  int64
		Pinned                bool
	}
	parseJSON(t, inProcess(t, cache, "ls", "--records", "--json", link.Key.String()), &records)
	if r := records[0]; len(records) != 1 || r.Key != link.Key.String() || r.Kind != "link" || r.Link != first.Key.String() || !r.Pinned {
		t.Errorf("%+v", records)
	}
}

func parseJSON(t *testing.T, r result, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil || r.status != 0 {
		t.Fatalf("status %d, %v\n%s%s", r.status, err, r.stdout, r.stderr)
	}
}

func TestShow(t *testing.T) {
	cache, first, second, link, _ := filledCache(t)
	at := made.UTC().Format(time.RFC3339)
	used := func(r result) string { // the only string that depends on the time of the test
		_, rest, _ := strings.Cut(r.stdout, "last used    ")
		text, _, _ := strings.Cut(rest, "\n")
		return text
	}
	r := inProcess(t, cache, "show", first.Key.String()[:20])
	r.want(t, cache, 0, fmt.Sprintf(""+
		"key          %s\n"+
		"node         area\n"+
		"kind         value\n"+
		"linked from  %s\n"+
		"code         version 2\n"+
		"size         4 B\n"+
		"type         %016x\n"+
		"cost         1.50s\n"+
		"created      %s (3d ago)\n"+
		"last used    %s\n"+
		"pinned       yes\n"+
		"manifest     letters#stats (pins it)\n"+
		"parameter    n = 1\n"+
		"input        image = %s as png/1\n"+
		"value (cbor):\n"+
		"  {\"a\": 1}\n", first.Key, link.Key, first.Type, at, used(r), key.DigestOf(nil)), "")
	if r := inProcess(t, cache, "show", link.Key.String()); r.status != 0 {
		t.Errorf("status %d: %s", r.status, r.stderr)
	} else {
		mustContain(t, "a link", r.stdout, "kind       link\n", "links to   "+first.Key.String(), "value (cbor):\n  {\"a\": 1}\n")
	}
	inProcess(t, cache, "show", "--raw", second.Key.String()).want(t, cache, 0, "two", "")
	inProcess(t, cache, "show", "--raw", link.Key.String()).want(t, cache, 0, string(first.Payload), "")
	var d struct {
		Key, Code  string
		Parts      []struct{ Kind, Name, Value, Digest string }
		LinkedFrom []string `json:"linked_from"`
		Manifests  []struct {
			Name   string
			Pinned bool
		}
		Value struct{ As, Text string }
	}
	parseJSON(t, inProcess(t, cache, "show", "--json", first.Key.String()), &d)
	if d.Key != first.Key.String() || d.Code != "version 2" || len(d.Parts) != 4 || d.LinkedFrom[0] != link.Key.String() || !d.Manifests[0].Pinned || d.Value.Text != `{"a": 1}` {
		t.Errorf("%+v", d)
	}
	inProcess(t, cache, "show", "nokey").want(t, cache, 2, "", "larder: nothing in the cache is called \"nokey\"\n")
	r = inProcess(t, cache, "show", "k1-")
	if r.status != 2 || strings.Count(r.stderr, "\n") != 6 {
		t.Errorf("status %d\n%s", r.status, r.stderr)
	}
	mustContain(t, "an ambiguous key", r.stderr, `5 keys begin with "k1-":`, first.Key.String()+"  area (value)", link.Key.String()+"  area (link)", "(file digest)")
}

func TestStats(t *testing.T) {
	cache, _, _, _, _ := filledCache(t)
	r := inProcess(t, cache, "stats")
	var j struct {
		Cache                                    string
		Records, Bytes, Limit, Pinned, Manifests int64
		Cost                                     float64 `json:"cost_seconds"`
		Kinds                                    []struct{ Kind string }
	}
	parseJSON(t, inProcess(t, cache, "stats", "--json"), &j)
	if j.Cache != cache || j.Records != 5 || j.Bytes < 2048 || j.Limit != 20<<30 || j.Pinned != 2 || j.Manifests != 1 || j.Cost != 4.5 || len(j.Kinds) != 3 {
		t.Errorf("%+v", j)
	}
	r.want(t, cache, 0, fmt.Sprintf(""+
		"         kind  records    bytes   cost\n"+
		"        value        3  2.0 KiB  4.50s\n"+
		"         link        1        .      .\n"+
		"  file digest        1     33 B      .\n"+
		"        total        5  2.0 KiB  4.50s\n"+
		"on disk: %.1f KiB of 20.0 GiB; 2 records pinned, 1 manifest; cache CACHE\n", float64(j.Bytes)/1024), "")
}

func TestNoCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	const none = "larder: no cache in CACHE\n"
	for _, tt := range []struct {
		args   string
		status int
		stdout string
		stderr string
	}{
		{"ls", 0, "", none},
		{"ls --records", 0, "", none},
		{"ls --json", 0, "[]\n", none},
		{"ls --records --json", 0, "[]\n", none},
		{"ls area", 2, "", none + "larder: nothing in the cache is called \"area\"\n"},
		{"show k1-", 2, "", none + "larder: nothing in the cache is called \"k1-\"\n"},
		{"stats", 0, "", none},
		{"gc", 0, "", none},
		{"gc --dry-run", 0, "", none},
		{"gc --node area", 2, "", none + "larder: nothing in the cache is called \"area\"\n"},
		{"clear --all", 0, "", none},
		{"clear area", 2, "", none + "larder: nothing in the cache is called \"area\"\n"},
		{"export -o out", 2, "", none + "larder: no cache to export from\n"},
	} {
		inProcess(t, dir, strings.Fields(tt.args)...).want(t, dir, tt.status, tt.stdout, tt.stderr)
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Fatalf("%s made the directory", tt.args)
		}
	}
}

// TestLookingChangesNothing compares the cache directory before and after.
func TestLookingChangesNothing(t *testing.T) {
	cache, first, _, _, _ := filledCache(t)
	before := tree(t, cache)
	for _, args := range []string{"ls", "ls --records area", "show " + first.Key.String(), "stats", "gc --dry-run --older-than 1h --pinned --max-size 1KiB", "export -o -"} {
		if r := inProcess(t, cache, strings.Fields(args)...); r.status != 0 {
			t.Errorf("%s: status %d: %s", args, r.status, r.stderr)
		}
		sameTree(t, args, tree(t, cache), before)
	}
}

func TestGc(t *testing.T) {
	cache, first, _, _, _ := filledCache(t)
	gc := func(args ...string) result { return inProcess(t, cache, append([]string{"gc"}, args...)...) }
	freed := func(r result) string { // the store decides how packs are rewritten
		_, rest, _ := strings.Cut(r.stderr, " removed, ")
		if !strings.Contains(rest, " freed on disk") {
			t.Errorf("nothing is said of what was freed: %s", r.stderr)
		}
		return rest
	}
	gc("--older-than", "1h").want(t, cache, 0, "", "0 records (0 B) removed, 0 B freed on disk\n") // last used when they were put
	r := gc("--node", "area", "--dry-run")
	r.want(t, cache, 0, "", "area: 1 record (3 B)\n1 record (3 B) would be removed, about 503 B freed on disk; nothing was removed\n")
	r = gc("--node", "area")
	r.want(t, cache, 0, "", "area: 1 record (3 B)\n1 record (3 B) removed, "+freed(r))
	r = gc("--max-size", "1KiB")
	r.want(t, cache, 0, "", "volume: 1 record (2.0 KiB)\n(file digests): 1 record (33 B)\n2 records (2.0 KiB) removed, "+freed(r))
	gc("--node", "aera").want(t, cache, 2, "", "larder: nothing in the cache is called \"aera\"; did you mean \"area\"?\n")
	r = gc("--max-size", "100", "--pinned")
	r.want(t, cache, 0, "", "area: 2 records (4 B)\n2 records (4 B), 2 of them pinned, removed, "+freed(r))
	if r := inProcess(t, cache, "show", first.Key.String()); r.status != 2 {
		t.Errorf("a pinned record stays: status %d", r.status)
	}
	for _, args := range [][]string{{"--max-size", "big"}, {"--max-size", "0"}, {"--older-than", "30"}, {"--older-than", "-3d"}, {"--older-than", "d"}, {"--older-than", "0s"}, {"--older-than", "9999999w"}, {"more"}} {
		if r := gc(args...); r.status != 2 {
			t.Errorf("%q: status %d: %s", args, r.status, r.stderr)
		}
	}
}

func TestClear(t *testing.T) {
	cache, _, _, _, _ := filledCache(t)
	for _, args := range [][]string{{"clear"}, {"clear", "area", "--all"}, {"clear", "area", "volum"}, {"clear", "flow.yaml#stats"}, {"clear", "k1-"}} {
		if r := inProcess(t, cache, args...); r.status != 2 || r.stdout != "" {
			t.Errorf("%q: status %d: %s", args, r.status, r.stderr)
		}
	}
	mustContain(t, "a wrong name", inProcess(t, cache, "clear", "volum").stderr, `did you mean "volume"?`)
	if n := strings.Count(inProcess(t, cache, "ls", "--records").stdout, "\n"); n != 6 {
		t.Fatalf("%d lines are left: a wrong request removed something", n)
	}
	r := inProcess(t, cache, "clear", "area")
	mustContain(t, "clear", r.stderr, "area: 3 records (7 B)\n3 records (7 B), 2 of them pinned, removed, ", " freed on disk")
	r = inProcess(t, cache, "clear", "--all")
	mustContain(t, "clear --all", r.stderr, "letters#stats: removed\n", "volume: 1 record (2.0 KiB)\n", "(file digests): 1 record (33 B)\n", "2 records (2.0 KiB) removed, ")
	inProcess(t, cache, "ls", "--json").want(t, cache, 0, "[]\n", "")
}

// TestExportAndImport moves the results of a run to another cache, where the flow then
// computes nothing.
func TestExportAndImport(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.run()
	file := b.path("results.larder")
	if r := b.larder("export", "-o", file); r.status != 0 || r.stdout != "" {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	if left, err := filepath.Glob(b.path(".results*")); err != nil || left != nil {
		t.Errorf("%q are left, %v", left, err)
	}
	if out := b.larder("export", "-o", "-"); out.stdout != string(readFile(t, file)) {
		t.Errorf("stdout has %d bytes", len(out.stdout))
	}
	here := b.cache
	b.cache = filepath.Join(t.TempDir(), "elsewhere")
	r := b.larder("import", "results.larder")
	if r.status != 0 || !strings.Contains(r.stderr, ", 0 were there already") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if n := b.run().node(t, "stats"); n.Computed != 0 || n.FromStore != 26 {
		t.Errorf("after the import: %+v", n)
	}

	whole := readFile(t, file)
	b.write("torn", string(whole[:len(whole)/2]))
	b.cache = filepath.Join(t.TempDir(), "torn")
	r = b.larder("import", "torn")
	mustContain(t, "a torn file", r.stderr, " imported, 0 were there already\n", "damaged: its end is missing")
	if n := strings.Count(b.larder("ls", "--records").stdout, "\n"); r.status != 1 || n < 5 {
		t.Errorf("status %d, %d lines", r.status, n)
	}
	b.write("wrong", "no export")
	if r := b.larder("import", "wrong"); r.status != 1 {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	b.cache = here
	for _, args := range [][]string{{"import", "missing"}, {"import"}, {"export"}, {"export", "-o", "out", "nothing"}, {"export", "-o", "no/such/directory/out"}} {
		if r := b.larder(args...); r.status != 2 {
			t.Errorf("%q: status %d: %s", args, r.status, r.stderr)
		}
	}
}

// TestRemovalDuringRuns deletes records that other processes are using. Their output is
// right nevertheless.
func TestRemovalDuringRuns(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.run()
	want := tree(t, b.path("out"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			if out, err := b.command("run", "flow.yaml").CombinedOutput(); err != nil {
				t.Errorf("run: %v\n%s", err, out)
			}
		}
	}()
	commands := []string{"clear --all", "export -o -", "gc --older-than 1ms --pinned", "ls", "gc --max-size 5KiB", "stats"}
	for i := 0; ; i++ {
		select {
		case <-done:
			sameTree(t, "the output", tree(t, b.path("out")), want)
			return
		default:
		}
		args := strings.Fields(commands[i%len(commands)])
		if r := b.larder(args...); r.status != 0 {
			t.Errorf("%q: status %d: %s", args, r.status, r.stderr)
		}
	}
}

// TestInventoryOfARun checks the records and the manifest of a flow, and their removal.
func TestInventoryOfARun(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.run()
	mustContain(t, "ls", b.larder("ls", "image-stats").stdout, "  image-stats       26      .      26  ")
	var records []struct{ Key string }
	parseJSON(t, b.larder("ls", "--records", "--json", "image-stats"), &records)
	mustContain(t, "show", b.larder("show", records[0].Key).stdout, "flow.yaml#stats (pins it)", "value (parcel):\n  stats.json")

	if r := b.larder("clear", "flow.yaml#sta"); r.status != 2 || !strings.Contains(r.stderr, `flow.yaml#stats"?`) {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	r := b.larder("clear", "flow.yaml#stats")
	mustContain(t, "clear", r.stderr, "flow.yaml#stats: removed\n", "image-stats: 26 records", "26 of them pinned")
	if n := b.run().node(t, "stats"); n.Computed != 26 {
		t.Errorf("%d computed after a clear", n.Computed)
	}

	if r := b.larder("gc", "--node", "image-stats"); r.status != 0 || !strings.HasPrefix(r.stderr, "0 records") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if err := os.Rename(b.path("flow.yaml"), b.path("other.yaml")); err != nil {
		t.Fatal(err)
	}
	r = b.larder("gc", "--node", "image-stats", "--dry-run")
	mustContain(t, "gc --dry-run", r.stderr, "flow.yaml#stats: would be released, because its flow file or checkpoint is gone\n", "26 records", "nothing was removed")
	r = b.larder("gc", "--node", "image-stats")
	mustContain(t, "gc", r.stderr, "flow.yaml#stats: released, because its flow file or checkpoint is gone\n", "image-stats: 26 records", " removed, ")
	mustContain(t, "gc", b.larder("gc").stderr, "0 records (0 B) removed, 0 B freed on disk\n")
}

// TestGCReleasesCheckpointsThatAreNoMore checks that a checkpoint removed from the flow
// file is released, and that the present ones stay pinned.
func TestGCReleasesCheckpointsThatAreNoMore(t *testing.T) {
	b := newBench(t)
	const two = `version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, checkpoint: true}
  small: {map: image-resize, from: letters, with: {width: 8}, checkpoint: true}
  cached: {map: hash, from: letters, with: {items: [image]}, keep: true}
  out: {sink: underfolder, from: cached, with: {path: out, overwrite: replace}}
`
	b.write("flow.yaml", two)
	b.run()
	if r := b.larder("gc", "--node", "image-resize"); !strings.HasPrefix(r.stderr, "0 records") {
		t.Errorf("a checkpoint that is there was released: %s", r.stderr)
	}
	b.write("flow.yaml", strings.Replace(two, "with: {width: 8}, checkpoint: true", "with: {width: 8}", 1))
	r := b.larder("gc", "--node", "image-resize")
	mustContain(t, "gc", r.stderr, "flow.yaml#small: released, because its flow file or checkpoint is gone\n", "image-resize: 26 records")
	if strings.Contains(r.stderr, "#stats") || strings.Contains(r.stderr, "#cached") {
		t.Errorf("others were released too: %s", r.stderr)
	}
	b.write("flow.yaml", "version: 1\nnodes: {")
	if r := b.larder("gc", "--node", "image-stats"); !strings.HasPrefix(r.stderr, "0 records") {
		t.Errorf("a checkpoint of a file that cannot be read now was released: %s", r.stderr)
	}
}
