package cli_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const auditedFlow = `
version: 1
include: more.yaml
vars: {times: 3, where: data, unused: "a b "}
nodes:
  letters: {source: underfolder, with: {path: "${where}"}, cache: {policy: lru, size: 10}}
  away: {source: images, with: {path: ../link}}
  stats: {map: image-stats, from: letters, checkpoint: auto}
  slow: {map: exec, from: stats, with: {command: [sh, slow.sh, "touch \u001b[2K'${odd}'"], items: [image], into: [x], code: [more.yaml], env: [HOME, SECRET_KEY]}, keep: true, checkpoint: true}
  flip: {map: compose, from: slow, with: {steps: [{map: image-flip, with: {seed: 7, epoch: 2}}, {map: image-flip, with: {horizontal: 1}}]}}
  many: {op: repeat, from: flip, with: {times: "${times}"}}
  mixed: {op: shuffle, from: many, with: {seed: 3}}
  some: {op: map-if, from: mixed, with: {step: {map: exec, with: {command: [no-such-program], items: [image], into: [image]}}, range: "0:${times}"}}
  out: {sink: underfolder, from: some, with: {path: out, overwrite: replace, copy: hard-link}}
  table: {sink: jsonl, from: stats, with: {path: "../table.jsonl"}}
`

func newAuditBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.write("flow.yaml", auditedFlow)
	b.write("more.yaml", "version: 1\nvars: {odd: \"x\\u202Ey\", times: 100}\nnodes:\n  extra: {op: cycle, from: letters, with: {n: \"${times}\"}}\n")
	b.write("slow.sh", "exit 1")
	b.write("out/data/0_x.txt", "there")
	if err := os.Symlink(t.TempDir(), b.path("../link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET_KEY", "hunter2")
	return b
}

func TestAudit(t *testing.T) {
	b := newAuditBench(t)
	before := tree(t, b.dir)
	r := b.larder("audit", "flow.yaml", "--set", "times=5")
	if r.status != 0 || r.stderr != "" {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	mustContain(t, "the audit", r.stdout,
		"times = 5", "nodes.many.with.times (flow.yaml:11:48), nodes.some.with.range (flow.yaml:13:", "nodes.extra.with.n (more.yaml:4:",
		`unused = "a b "`, "not used",
		b.path("data")+" (directory)", b.path("../link")+", which is /", "(directory, outside the flow's directory)",
		b.path("slow.sh")+" (file)", b.path("more.yaml")+" (file)",
		b.path("out")+" (there already); overwrite: replace; copy: hard-link",
		"table.jsonl (new, outside the flow's directory); overwrite: forbid",
		`sh slow.sh "touch \x1b[2K'x\u202ey'"`, "/sh\n", "there is no such program", "SECRET_KEY\n",
		"image-flip, seed 7, epoch 2", "shuffle, seed 3, epoch 0",
		"in memory: lru, 10 samples at most", "checkpoint: auto", "keep; checkpoint\n", b.cache, "nothing was run")
	if strings.Contains(r.stdout, "hunter2") {
		t.Error("the value of a variable of the environment was printed")
	}
	if i := strings.IndexFunc(r.stdout, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("what the flow says can reach the terminal: %q", r.stdout[i:])
	}
	sameTree(t, "after the audit", tree(t, b.dir), before)
	if _, err := os.Stat(b.cache); !os.IsNotExist(err) {
		t.Error("the audit opened the cache")
	}
	if b.executions() != 0 {
		t.Error("the audit ran a command")
	}
}

func TestAuditForMachines(t *testing.T) {
	b := newAuditBench(t)
	r := b.larder("audit", "flow.yaml", "--json")
	var au struct {
		Flow      string
		Files     []string
		Variables []struct {
			Name         string
			Values, Used []string
			Given        bool
		}
		Reads, Writes []struct {
			Node, Path, Real, What, Overwrite, Copy string
			Outside                                 bool
		}
		Commands []struct {
			Node, Program string
			Command, Code []string
			Env           []struct {
				Name string
				Set  bool
			}
		}
		Functions []struct {
			Node, Function, Setup, Interpreter string
			Files                              []string
		}
		Random []struct {
			Node, Component string
			Seed, Epoch     int
		}
		Keeps []struct {
			Node, Checkpoint, Cache string
			Keep                    bool
		}
		Cache string
	}
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&au); err != nil {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	if want := []string{b.path("flow.yaml"), b.path("more.yaml")}; !slices.Equal(au.Files, want) {
		t.Errorf("files %q, want %q", au.Files, want)
	}
	for _, v := range au.Variables {
		if v.Name == "times" && (v.Given || !slices.Equal(v.Values, []string{"3"}) || len(v.Used) != 3) {
			t.Errorf("%+v", v)
		}
	}
	if len(au.Reads) != 4 || len(au.Writes) != 2 || len(au.Commands) != 2 || len(au.Random) != 2 || len(au.Keeps) != 3 || au.Cache != b.cache {
		t.Errorf("%+v", au)
	}
	if c := au.Commands[0]; !slices.Equal(c.Code, []string{b.path("more.yaml"), b.path("slow.sh")}) || len(c.Env) != 4 || !c.Env[3].Set {
		t.Errorf("%+v", c)
	}
}

// TestAuditOfFunctions checks that the audit lists all Python functions of a flow without
// starting Python.
func TestAuditOfFunctions(t *testing.T) {
	b := newBench(t)
	b.write("python.sh", "#!/bin/sh\ntouch "+b.path("started")+"\n")
	if err := os.Chmod(b.path("python.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LARDER_PYTHON", b.path("python.sh"))
	b.write("gen.py", "")
	b.write("flow.yaml", `
version: 1
nodes:
  rows: {source: python, with: {function: "gen:rows", into: [n], setup: "gen:load", files: {words: words.txt}}}
  all: {op: materialise, from: rows}
  some: {op: map-if, from: all, with: {where: "n > 1", step: {map: python, with: {function: "far.away:f", items: [n], into: [m], interpreter: own-python}}}}
  more: {map: python, from: some, with: {function: "gen:one", items: [n], into: [o]}}
`)
	mustContain(t, "the audit", b.larder("audit", "flow.yaml").stdout,
		"calls functions of Python, with the same rights:\n", "gen:rows, after gen:load\n", b.path("words.txt")+", "+b.path("gen.py"), "far.away:f, by own-python\n", "files: none apart from the flow", "gen:one\n")
	if _, err := os.Stat(b.path("started")); err == nil {
		t.Error("the audit started Python")
	}
}

func TestAuditOfSweeps(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", `
version: 1
sweep: {size: [1, 2]}
nodes:
  letters: {source: underfolder, with: {path: data}}
  first: {op: slice, from: letters, with: {stop: "${size}"}}
  out: {sink: underfolder, from: first, with: {path: "out/${size}"}}
`)
	mustContain(t, "the audit", b.larder("audit", "flow.yaml").stdout, "size = 1 | 2", b.path("out/1")+" (new)", b.path("out/2")+" (new)", "runs commands, once for each sample, with all rights of the user: none", "at random: none")
}

func TestAuditOfAWrongFlow(t *testing.T) {
	b := newAuditBench(t)
	b.write("flow.yaml", strings.Replace(auditedFlow, "code: [more.yaml]", "code: [weights.bin]", 1))
	r := b.larder("audit", "flow.yaml")
	if r.status != 2 || r.stdout != "" {
		t.Errorf("status %d: %s", r.status, r.stdout)
	}
	mustContain(t, "the error", r.stderr, "flow.yaml:9:", "weights.bin")
}

// TestAuditOfFilesInWords checks that files named by parts of words and by values of
// variables are listed, and once.
func TestAuditOfFilesInWords(t *testing.T) {
	b := newAuditBench(t)
	b.write("a.awk", "1")
	b.write("b.sh", "1")
	t.Setenv("RUN", "x:"+b.path("b.sh"))
	flow := strings.Replace(auditedFlow, "[sh, slow.sh,", "[sh, -c, 'awk -fa.awk | sh "+b.path("slow.sh")+"; . ./slow.sh',", 1)
	b.write("flow.yaml", strings.Replace(flow, "SECRET_KEY]", "RUN]", 1))
	r := b.larder("audit", "flow.yaml")
	mustContain(t, "the audit", r.stdout,
		"code: "+strings.Join([]string{b.path("a.awk"), b.path("b.sh"), b.path("more.yaml"), b.path("slow.sh")}, ", ")+"\n",
		b.path("a.awk")+" (file)", b.path("b.sh")+" (file)", b.path("slow.sh")+" (file)")
	if strings.Count(r.stdout, b.path("slow.sh")+" (file)") != 1 {
		t.Error("a file is listed twice")
	}
}
