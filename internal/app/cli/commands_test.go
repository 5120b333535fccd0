package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	if r := b.larder("lint", "flow.yaml"); r.status != 0 || r.stdout != "" {
		t.Errorf("status %d, stdout %q", r.status, r.stdout)
	}
	b.write("flow.yaml", strings.ReplaceAll(statsFlow, "image-stats", "image-stat"))
	r := b.larder("lint", "flow.yaml")
	if r.status != 2 {
		t.Errorf("status %d, want 2", r.status)
	}
	mustContain(t, "lint", r.stderr, "flow.yaml:5:16", `did you mean "image-stats"?`)
	if _, err := os.Stat(b.cache); !os.IsNotExist(err) {
		t.Error("lint opened the cache")
	}
}

func TestComponents(t *testing.T) {
	b := newBench(t)
	mustContain(t, "the list", b.larder("components").stdout, "underfolder", "image-stats", "group-by")
	mustContain(t, "the description", b.larder("components", "repeat").stdout, "times (number, required)", "interleave (bool)")
	if r := b.larder("components", "repaet"); r.status != 2 || !strings.Contains(r.stderr, `"repeat"`) {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	var list []struct {
		Kind, Name, Doc string
		Params          []struct{ Name, Type, Doc string }
	}
	if err := json.Unmarshal([]byte(b.larder("components", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.Doc == "" {
			t.Errorf("%s %s has no description", c.Kind, c.Name)
		}
		for _, p := range c.Params {
			if p.Doc == "" || p.Type == "" {
				t.Errorf("%s %s: parameter %s has no description", c.Kind, c.Name, p.Name)
			}
		}
	}
}

func TestSchemaIsJSON(t *testing.T) {
	b := newBench(t)
	r := b.larder("schema")
	if !json.Valid([]byte(r.stdout)) || r.stderr != "" {
		t.Errorf("stdout %.100q, stderr %q", r.stdout, r.stderr)
	}
}

func TestWrongArguments(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	for _, args := range [][]string{
		{"rnu"}, {"run"}, {"run", "missing.yaml"}, {"run", "flow.yaml", "--progress", "loud"}, {"run", "flow.yaml", "--set", "novalue"},
		{"run", "flow.yaml", "--workers", "-1"}, {"run", "flow.yaml", "--nonsense"}, {"run", "flow.yaml", "--cache-size", "big"},
		{"run", "flow.yaml", "--events", "no/such/directory/events"}, {"run", "flow.yaml", "--report", "no/such/directory/report"},
	} {
		if r := b.larder(args...); r.status != 2 || r.stderr == "" {
			t.Errorf("%q: status %d, want 2: %s", args, r.status, r.stderr)
		}
	}
}

func TestEventsAreJSONLines(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	for range 2 { // appended to the file
		b.run("--events", "events")
	}
	f, err := os.Open(b.path("events"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kinds := map[string]int{}
	for d := json.NewDecoder(f); ; {
		var e struct{ Event, Node, Time, Text, Message string }
		if err := d.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Node == "" || e.Time == "" {
			t.Errorf("event %+v", e)
		}
		kinds[e.Event]++
	}
	if kinds["node_started"] != 6 || kinds["node_done"] != 6 || kinds["progress"] == 0 {
		t.Errorf("events: %v", kinds)
	}
}

// TestWarningsAreEvents checks that warnings are also events, and that the run continues.
func TestWarningsAreEvents(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.run()
	packs, err := filepath.Glob(filepath.Join(b.cache, "packs", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	pack, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := 200; i < len(pack); i += 100 {
		pack[i] ^= 1
	}
	if err := os.WriteFile(packs[0], pack, 0o666); err != nil {
		t.Fatal(err)
	}
	r := b.run("--events", "events")
	mustContain(t, "the log", r.stderr, "damaged record set aside")
	events := string(readFile(t, b.path("events")))
	mustContain(t, "the events", events, `"event":"warning"`, "damaged record set aside (pack ", `"event":"node_done"`)
}

func TestDryRunDoesNothing(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	r := b.larder("run", "flow.yaml", "--dry-run")
	mustContain(t, "the plan", r.stderr, "stats: 26 samples (first: 0): not computed before", "26 results to compute")
	if _, err := os.Stat(b.path("out")); !os.IsNotExist(err) {
		t.Error("the output was written")
	}
	b.run()
	image := b.path("data/data/05_image.jpeg")
	if err := os.WriteFile(image, append(readFile(t, image), 'x'), 0o666); err != nil {
		t.Fatal(err)
	}
	r = b.larder("run", "flow.yaml", "--dry-run")
	mustContain(t, "the plan", r.stderr, "stats: 1 sample (first: 5): input image: changed", "1 result to compute")
	if n := b.run().node(t, "stats"); n.Computed != 1 {
		t.Errorf("%d computed after the plan", n.Computed)
	}
}

func TestCacheSizeIsHeld(t *testing.T) {
	b := newBench(t)
	b.write("big.sh", `head -c 200000 /dev/zero > "$LARDER_OUT/big.bin"; cat "$LARDER_IN/image.jpeg" >> "$LARDER_OUT/big.bin"`)
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  big: {map: exec, from: letters, with: {command: [sh, big.sh], items: [image], into: [big]}, keep: true}
  out: {sink: underfolder, from: big, with: {path: out, overwrite: replace}}
`)
	b.run("--cache-size", "2MB")
	b.run("--cache-size", "2MB")
	var bytes int64
	for name := range tree(t, b.cache) {
		info, err := os.Stat(filepath.Join(b.cache, name))
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	const limit = 2_000_000
	if bytes > limit+limit/16 { // the slack between two evictions
		t.Errorf("the cache holds %d bytes", bytes)
	}
}

func TestSimulate(t *testing.T) {
	b := newBench(t)
	r := b.larder("simulate", "cyclic", "blocks", "--policy", "lru", "--policy", "opt")
	mustContain(t, "the table", r.stdout, "lru", "cyclic", "0.0", "19.2", "blocks", "75.0", "79.0")
	var results []struct {
		Pattern, Policy   string
		Size, Calls, Hits int
		HitRate           float64 `json:"hit_rate"`
	}
	b.write("trace", "1\n2\n1\n2\n")
	r = b.larder("simulate", "--trace", "trace", "--size", "2", "--json", "--svg", "chart.svg")
	if err := json.Unmarshal([]byte(r.stdout), &results); err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Pattern != "trace" || r.Calls != 4 || r.Hits != 2 || r.HitRate != 0.5 || r.Size != 2 {
			t.Errorf("%+v", r)
		}
	}
	if !strings.HasPrefix(string(readFile(t, b.path("chart.svg"))), "<svg") {
		t.Error("no chart was drawn")
	}
	for _, args := range [][]string{{"nonsense"}, {"--policy", "lur"}, {"--size", "0"}, {"--trace", "missing"}, {"cyclic", "--trace", "trace"}, {"--items", "1"}} {
		if r := b.larder(append([]string{"simulate"}, args...)...); r.status != 2 {
			t.Errorf("%q: status %d, want 2: %s", args, r.status, r.stderr)
		}
	}
}

// TestTraceOrders records a run and simulates the recorded reads.
func TestTraceOrders(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}, cache: {policy: opt, size: 5}}
  many: {op: repeat, from: letters, with: {times: 10}}
  out: {sink: underfolder, from: many, with: {path: out}}
`)
	r := b.run("--trace-orders", "traces", "--workers", "1")
	mustContain(t, "the closing table", r.stderr, "letters: cache opt knew the order of 1 of 1 passes")
	hits := r.node(t, "letters").MemoryReads
	r = b.larder("simulate", "--trace", "traces/letters.trace", "--policy", "opt", "--json")
	mustContain(t, "the simulation", r.stdout, `"calls": 260`, fmt.Sprintf(`"hits": %d`, hits))
}
