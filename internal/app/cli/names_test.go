package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// evil is a name that looks like a line of the program, and that moves the cursor of a
// terminal.
const evil = "a\nlarder: all is well\x1b[2J\r\u202eb"

// TestNames checks that no name of a file, item, group, variable or directory adds a line
// or control characters to a message, table, drawing or list.
func TestNames(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	t.Chdir(b.dir)
	json := `{"` + strings.NewReplacer("\n", `\n`, "\x1b", `\u001b`, "\r", `\r`).Replace(evil) + `":1,"g":"` + strings.NewReplacer("\n", `\n`, "\x1b", `\u001b`, "\r", `\r`).Replace(evil) + `"}` + "\n"
	b.write("rows.jsonl", json)
	b.write(evil+"/rows.jsonl", json)
	b.write(evil+"/broken.jsonl", "{")
	b.write("under/data/0_"+evil+".json", "{")
	b.write("under/data/0_x.json", "1")
	b.write("under/data/"+evil, "1")
	b.write("pictures/"+evil+".png", "no picture")
	yaml := strings.NewReplacer("\n", `\n`, "\x1b", `\e`, "\r", `\r`).Replace(evil)
	flow := func(nodes string) string { return "version: 1\nvars: {v: \"" + yaml + "\"}\nnodes:\n" + nodes }
	b.write(evil+".yaml", flow("  in: {source: jsonl, with: {path: rows.jsonl}}\n  out: {sink: jsonl, from: in, with: {path: \"${v}.jsonl\", overwrite: replace}}\n"))
	b.write("sweep.yaml", "version: 1\nsweep: {v: [\""+yaml+"\"]}\nnodes:\n  in: {source: jsonl, with: {path: rows.jsonl}}\n  k: {map: compute, from: in, with: {set: {y: \"'${v}'\"}}, keep: true}\n  out: {sink: jsonl, from: k, with: {path: \"${v}.2.jsonl\", overwrite: replace}}\n")
	b.write("tag.yaml", flow("  \""+yaml+"\": {source: jsonl, with: {path: rows.jsonl}}\n"))
	b.write("field.yaml", flow("  in: {source: jsonl, \""+yaml+"\": 1}\n"))
	b.write("exec.yaml", flow("  in: {source: jsonl, with: {path: rows.jsonl}}\n  x: {map: exec, from: in, with: {command: [sh, -c, 'touch \"$LARDER_OUT/${v}.txt\"'], items: [g], into: [r]}}\n  out: {sink: jsonl, from: x, with: {path: o.jsonl}}\n"))
	for _, args := range [][]string{
		{"run", evil + ".yaml"}, {"run", evil + ".yaml"}, {"lint", evil + ".yaml"}, {"audit", evil + ".yaml"}, {"tree", evil + ".yaml"}, {"tree", evil + ".yaml", "out", "0"},
		{"run", evil + ".yaml", "--dry-run"}, {"run", evil + ".yaml", "--only", evil}, {"run", evil + ".yaml", "--set", evil + "=1"}, {"run", evil + ".yaml", "--report", evil + "/no/r.json"},
		{"run", evil + ".yaml", "--report", evil}, {"run", evil + ".yaml", "--on-error", evil}, {"run", evil + ".yaml", "--cache", evil + ".yaml"}, {"run", evil + ".yaml", "--cache", evil + "/cache"},
		{"draw", evil + ".yaml", "-o", "-", "--format", "dot"}, {"draw", evil + ".yaml", "-o", "-", "--format", "mmd"}, {"draw", evil + ".yaml", "-o", "-", "--format", "svg"}, {"draw", "f", "-o", "-", "--format", evil},
		{"run", "sweep.yaml"}, {"run", "sweep.yaml", "--dry-run"}, {"why", "sweep.yaml", "k", "0"}, {"tree", "sweep.yaml"}, {"audit", "sweep.yaml"}, {"ls"}, {"ls", "--records"}, {"stats"}, {"verify", "sweep.yaml"}, {"timeit", "sweep.yaml", "k@v=" + evil},
		{"lint", "tag.yaml"}, {"lint", "field.yaml"}, {"run", "exec.yaml"}, {"audit", "exec.yaml"}, {"run", evil}, {evil}, {"run", "--" + evil},
		{"validate", "jsonl:rows.jsonl", "--infer"}, {"validate", "under", "--infer"}, {"validate", "images:pictures", "--infer"}, {"import", evil + ".yaml"}, {"report", evil + ".yaml"},
		{"op", "clone", "-i", "jsonl:rows.jsonl", "-o", "csv:o.csv"}, {"op", "clone", "-i", "jsonl:" + evil + "/broken.jsonl", "-o", "new"}, {"op", "clone", "-i", "jsonl:rows.jsonl", "-o", "jsonl:" + evil + "/rows.jsonl"},
		{"op", "clone", "-i", "under", "-o", "jsonl:o.jsonl"}, {"op", "clone", "-i", "under", "-o", "new2,copy=rewrite"}, {"op", "clone", "-i", "images:pictures", "-o", "new3,copy=rewrite"}, {"map", "hash", "--items", evil, "--into", "h", "-i", "under", "-o", "new4"},
		{"map", "image-stats", "--item", "x", "-i", "jsonl:rows.jsonl", "-o", "jsonl:new5"}, {"map", "keep-keys", "--keys", "zz", "-i", "jsonl:rows.jsonl", "-o", "jsonl:new5"}, {"op", "filter", "--where", "zz > 1", "-i", "jsonl:rows.jsonl", "-o", "jsonl:new6"},
		{"op", "group-by", "--by", "g", "-i", "jsonl:rows.jsonl", "-o", "new7"}, {"op", "group-by", "--by", "g", "-i", "jsonl:rows.jsonl", "-o.x", "jsonl:new8"}, {"op", "group-by", "--by", "g", "-i", "jsonl:rows.jsonl", "-o", "jsonl:new9"},
		{"op", "clone", "-i", "images:pictures", "-o", "new10", "--on-error", "skip"}, {"op", "clone", "-i", evil, "-o", "x"}, {"op", "clone", "-i", evil + ":x", "-o", "x"}, {"op", "clone", "-i", "under,a" + evil, "-o", "x"}, {"run", evil + ".yaml", "--vars", evil},
		{"show", evil}, {"clear", evil}, {"gc", "--node", evil}, {"components", evil}, {"simulate", evil}, {"simulate", "--trace", evil},
	} {
		r := b.larder(args...)
		if r.status > 2 || r.status < 0 {
			t.Errorf("larder %q: status %d", args, r.status)
		}
		text := r.stderr + "\n" + r.stdout
		if args[0] == "validate" {
			text = r.stderr // the schema is a file, whose strings are literal
		}
		if at := strings.IndexAny(text, "\x1b\r\u202e"); at >= 0 {
			t.Errorf("larder %q says what steers a terminal: %q", args, text[max(0, at-100):min(len(text), at+20)])
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "larder: all is well") {
				t.Errorf("larder %q has a line of a name: %.300q", args, text)
				break
			}
		}
	}
	if _, err := os.Lstat(evil + ".jsonl"); err != nil {
		t.Errorf("the file of that name was not written: %v", err)
	}
}
