package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/order"
)

// must runs a command line that must succeed.
func (b *bench) must(line string) result {
	b.t.Helper()
	r := b.larder(words(line)...)
	if r.status != 0 {
		b.t.Fatalf("larder %s: status %d\n%s", line, r.status, r.stderr)
	}
	return r
}

// at opens a dataset in the directory of the flow.
func (b *bench) at(name string) written {
	b.t.Helper()
	return open(b.t, b.path(name))
}

// upTo has a parameter with the name of a flag that every command has.
type upTo struct {
	Workers int `param:"workers,required" doc:"number of samples"`
}

func init() {
	component.RegisterOrder("test-workers", "Passes on the first samples.", func(p upTo, n int) (order.Order, error) {
		return order.Slice(n, nil, &p.Workers, nil)
	})
	operators["test-workers"] = oneComponent{line: "--workers 1 --with-workers 4", check: all("abcd")}
}

func TestPlaces(t *testing.T) {
	b := newBench(t)
	t.Run("an absolute path", func(*testing.T) {
		b.must("op slice --stop 3 -i " + b.path("data") + " -o " + b.path("abs"))
		b.at("abs").has("abc")
	})
	t.Run("long flags, in any order", func(*testing.T) {
		b.must("--cache-size 1GiB op slice --output=long --input data --stop=-23")
		b.at("long").has("abc")
	})
	t.Run("another cache", func(*testing.T) {
		b.must("op sort --by metadata.letter -i data -o x --cache other --dry-run")
		if _, err := os.Stat(b.path("other")); err != nil {
			t.Error(err)
		}
	})
	t.Run("a format", func(*testing.T) {
		b.must("op slice --stop 3 -i images:data/data -o underfolder:images")
		b.at("images").keys("image")
	})
	t.Run("parameters of the source", func(*testing.T) {
		b.must("op clone -i images:data,recursive=true,ext=jpeg -o deep")
		if n := b.at("deep").Len(); n != 26 {
			t.Errorf("%d images, want 26", n)
		}
	})
	t.Run("parameters of the sink", func(*testing.T) {
		b.must("op slice --stop 2 -i data -o again")
		if r := b.larder("op", "slice", "--stop", "3", "-i", "data", "-o", "again"); r.status != 1 {
			t.Errorf("status %d, want 1: %s", r.status, r.stderr)
		}
		b.must("op slice --stop 3 -i data -o again,overwrite=replace,copy=rewrite")
		b.at("again").has("abc")
	})
	t.Run("commas and colons", func(*testing.T) {
		b.must("op slice --stop 3 -i data -o underfolder:a,,b:c,,,overwrite=if-empty")
		b.at("a,b:c,").has("abc")
		b.must("op reverse -i a,,b:c,, -o back") // it exists, so the colon is not ambiguous
		b.at("back").has("cba")
		b.must("op reverse -i underfolder:a,,b:c,, -o ./back:2")
		b.at("back:2").has("cba")
	})
	t.Run("other formats", func(*testing.T) {
		b.must("map keep-keys -i abs -o jsonl:abc.jsonl,overwrite=replace -- metadata")
		b.must("op reverse -i jsonl:abc.jsonl -o lines")
		b.at("lines").has("cba")
		b.write("table.csv", "letter;n\nx;1\ny;2\n")
		b.must("op reverse -i csv:table.csv,delimiter=;,types=n=int -o csv:back.csv,columns=n,columns=letter,header=false")
		if got := string(readFile(t, b.path("back.csv"))); got != "2,y\n1,x\n" {
			t.Errorf("wrote %q", got)
		}
	})
	t.Run("names of inputs", func(*testing.T) {
		r := b.must("op cat -i.left=abs -i.right back -o named --report -")
		b.at("named").has("abccba")
		mustContain(t, "the report", r.stdout, `"in-left"`, `"in-right"`)
	})
}

func TestOutputs(t *testing.T) {
	b := newBench(t)
	b.must("op split -i data --sizes '{train: 0.5, test: 0.5}' -o.test t -o.train=w")
	b.at("t").has(alphabet[13:])
	b.at("w").has(alphabet[:13])
	b.must("op split -i data --sizes '[10, null]' -o one -o underfolder:two,overwrite=replace")
	b.at("one").has(alphabet[:10])
	b.at("two").has(alphabet[10:])
	b.must("op split -i data --sizes '{train: 10, test: null}' -o.1 last -o.0 first")
	b.at("last").has(alphabet[10:])
	b.at("first").has(alphabet[:10])
	b.must("op split -i data --sizes '[10, null]' -o together")
	b.at("together/1").has(alphabet[10:])
	b.must("op group-by -i data --by metadata.color -o.red red -o.green green -o.blue blue -o.orange orange --progress none")
	b.at("red").has(colored(b.at("data"), "red"))
	b.must("op group-by -i data --by metadata.color -o.blue some-blue -o.red=some-red --allow-unused-outputs")
	b.at("some-red").has(colored(b.at("data"), "red"))
	b.at("some-blue").has(colored(b.at("data"), "blue"))
	b.must("op chunk -i data --n 4 -o first-half --allow-unused-outputs -o second")
	b.at("second").has(alphabet[7:14])
}

// TestOutputsThatDoNotFit checks that nothing is written if an output would be unused or
// have no dataset.
func TestOutputsThatDoNotFit(t *testing.T) {
	b := newBench(t)
	const split = "op split -i data --sizes '{train: 10, test: 10, rest: null}' "
	for line, want := range map[string]string{
		split + "-o new/a -o new/b":                                                 "no -o for output rest (of ",
		split + "-o.test new/a -o.train new/b":                                      "no -o for output rest (of ",
		split + "-o new/a -o new/b -o new/c -o new/d":                               "-o new/d: there are more -o than outputs (train, test, rest)",
		split + "-o.test new/a -o.tran new/b -o.rest new/c":                         `-o.tran new/b: there is no output "tran" (did you mean "train"?); the outputs are train, test, rest; nothing was written`,
		"op chunk -i data --n 26 -o.a new/a -o.b new/b":                             "18, 19 and 6 more",
		"op group-by -i data --by metadata.color -o.rde new --allow-unused-outputs": `there is no output "rde" (did you mean "red"?); the outputs are`,
		"op group-by -i data --by len(metadata.letter) -o.0 new":                    `there is no output "0"`,
		"op clone -i data -o new --allow-unused-outputs":                            "there is no flag --allow-unused-outputs",
		"op clone -i data -o new/a -o new/b":                                        "op clone has one output, not 2; give one -o",
		"op clone -i data -o.all new/a":                                             "write -o, not -o.all",
		"op clone -i data":                                                          "give -o PATH",
		"map hash -i data":                                                          "give -o PATH",
		"op split -i data --sizes '[1, null]' -o new/a -o ./new/a":                  "-o new/a and -o ./new/a are the same path",
		split + "-o.test new/a -o new/b":                                            "give every -o a name, or none",
		split + "-o.test new/a -o.test new/b":                                       "the name is given twice",
		split + "-o.test":                                                           "-o.test : the path is empty",
	} {
		r := b.larder(words(line)...)
		if r.status != 2 {
			t.Errorf("larder %s: status %d, want 2", line, r.status)
		}
		mustContain(t, "larder "+line, r.stderr, want)
		if _, err := os.Lstat(b.path("new")); err == nil {
			t.Fatalf("larder %s wrote something", line)
		}
	}
}

func TestWrongComponentArguments(t *testing.T) {
	b := newBench(t)
	for line, want := range map[string]string{
		"op repaet -i data -o new":                                    `there is no op "repaet"; did you mean "repeat"?`,
		"op -- repeat":                                                "give the name first: larder op repeat",
		"map hsah":                                                    `there is no map "hsah"; did you mean "hash"?`,
		"op repeat --tims 2 -i data -o new":                           `op repeat: there is no flag --tims; did you mean "times"?`,
		"op repeat --times":                                           "--times: no value",
		"op repeat -i data -o new":                                    "op repeat needs the parameter times",
		"op repeat --times two -i data -o new":                        `--times: times must be a number, not the string "two"`,
		"op repeat --times 2 --times 3 -i data -o new":                "--times: is given twice",
		"op repeat --times 2 --interleave=maybe -i data -o new":       "--interleave: interleave must be true or false",
		"op shard --rank 0 --world-size 2 --rest some -i data -o new": `--rest: rest cannot be "some"; valid: keep, drop, repeat`,
		"op split --sizes '[0.5' -i data -o new":                      "--sizes: not YAML",
		"op split --sizes '[0.5, 0.6]' -i data -o new":                "add up to",
		"map rename --names image -i data -o new":                     `--names: "image" is malformed; write NAME=VALUE`,
		"map compose --steps '{map: hahs}' -i data -o new":            `--steps: there is no map "hahs"; did you mean "hash"?`,
		"op filter --where '1 +' -i data -o new":                      "1 +",
		"op clone -o new":                                             "give -i PATH",
		"op clone -i data -i data -o new":                             "op clone reads one dataset, not 2; join them first",
		"op clone data -o new":                                        `unexpected argument "data"`,
		"op clone -i data -o new -- x":                                "unexpected arguments after --",
		"op clone -i undefolder:data -o new":                          `there is no source format "undefolder"`,
		"op clone -i data -o imagse:new":                              `there is no sink format "imagse" (for a path with a colon, write underfolder:imagse:new)`,
		"op clone -i data,recursive -o new":                           `-i data,recursive: "recursive" is not NAME=VALUE`,
		"op clone -i images:data,recursive=1 -o new":                  "recursive=1: recursive must be true or false",
		"op clone -i data -o new,overwrit=replace":                    `sink underfolder has no field "overwrit"; did you mean "overwrite"?`,
		"op clone -i data -o new,overwrite=always":                    `overwrite=always: overwrite cannot be "always"`,
		"op cat -i.a.b data -o new":                                   `"a.b" cannot name an input`,
		"op clone -i data -o new --workers -1":                        "--workers -1",
		"op clone -i data -o new --progress loud":                     "--progress",
	} {
		r := b.larder(words(line)...)
		if r.status != 2 {
			t.Errorf("larder %s: status %d, want 2", line, r.status)
		}
		mustContain(t, "larder "+line, r.stderr, want)
		if _, err := os.Lstat(b.path("new")); err == nil {
			t.Fatalf("larder %s wrote something", line)
		}
	}
	if r := b.larder("op", "clone", "-i", "missing", "-o", "new"); r.status != 1 || !strings.Contains(r.stderr, "missing") {
		t.Errorf("a dataset that is not there: status %d, want 1: %s", r.status, r.stderr)
	}
}

func TestOperatorOntoItsOwnInput(t *testing.T) {
	b := newBench(t)
	before := tree(t, b.path("data"))
	for _, line := range []string{"op reverse -i data -o data,overwrite=replace", "op split --sizes '[1, null]' -i data -o data,overwrite=overwrite-files -o new"} {
		if r := b.larder(words(line)...); r.status != 2 {
			t.Errorf("larder %s: status %d, want 2: %s", line, r.status, r.stderr)
		}
		sameTree(t, "the input", tree(t, b.path("data")), before)
	}
}

func TestMapperKeepsItsResults(t *testing.T) {
	b := newBench(t)
	b.write("up.sh", `echo >> "$EXECUTIONS"; cat "$LARDER_IN/metadata.yaml" > "$LARDER_OUT/up.txt"`)
	run := func(out string, flags string) flow.NodeReport {
		t.Helper()
		r := b.must("map exec -i data -o " + out + " --report - --items metadata --into up --code up.sh --env EXECUTIONS " + flags + " -- sh up.sh")
		r.report = new(flow.Report)
		if err := json.Unmarshal([]byte(r.stdout), r.report); err != nil {
			t.Fatal(err)
		}
		return r.node(t, "exec")
	}
	r := b.must("map exec -i data -o a --keep --dry-run --command sh --command up.sh --items metadata --into up")
	mustContain(t, "the plan", r.stderr, "26 results to compute; nothing was run")
	if _, err := os.Lstat(b.path("a")); err == nil {
		t.Error("a dry run wrote something")
	}
	if n := run("a", "--keep --workers 1"); n.Computed != 26 || b.executions() != 26 {
		t.Errorf("first: %+v", n)
	}
	if n := run("b", "--keep"); n.Computed != 0 || n.FromStore != 26 || b.executions() != 0 {
		t.Errorf("again: %+v", n)
	}
	sameTree(t, "the second output", tree(t, b.path("b/data")), tree(t, b.path("a/data")))
	b.write("up.sh", `echo >> "$EXECUTIONS"; cat "$LARDER_IN/metadata.yaml" "$LARDER_IN/metadata.yaml" > "$LARDER_OUT/up.txt"`)
	if n := run("c", "--keep"); n.Computed != 26 || b.executions() != 26 {
		t.Errorf("with other code: %+v", n)
	}
}

// TestOperatorIsTheFlow checks that a command does the same as a flow file with these
// parameters.
func TestOperatorIsTheFlow(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  drawn: {op: weighted-sample, from: letters, with: {n: 40, weight: 'metadata.color == "red" ? 3 : 1', seed: 5}}
  out: {sink: underfolder, from: drawn, with: {path: out}}
`)
	b.run()
	b.must(`op weighted-sample -i data -o shell --n 40 --weight 'metadata.color == "red" ? 3 : 1' --seed 5`)
	sameTree(t, "the output of the command", tree(t, b.path("shell")), tree(t, b.path("out")))
}

func TestComponentHelp(t *testing.T) {
	b := newBench(t)
	mustContain(t, "op", b.must("op").stdout, "shuffle", "-o.NAME PATH")
	mustContain(t, "op shard", b.must("op shard --help").stdout, "--rank int", "(required)", "(one of keep drop repeat)", "--dry-run", "[FORMAT:]PATH[,k=v]...")
	mustContain(t, "map rename", b.must("map rename -h").stdout, "--names NAME=string", "may be repeated")
	mustContain(t, "completions", b.must("__complete op sh").stdout, "shard", "shuffle")
	mustContain(t, "completions of a value", b.must("__complete op shard --rest d").stdout, "drop")
	mustContain(t, "completions of flags", b.must("__complete op shard --wo").stdout, "--world-size", "--workers")
}

func TestOperatorBelowAnotherDirectory(t *testing.T) {
	b := newBench(t)
	inner := filepath.Join(b.dir, "inner")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	c := b.command(words("op slice --stop 2 -i ../data -o out")...)
	c.Dir = inner
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b.at("inner/out").has("ab")
}
