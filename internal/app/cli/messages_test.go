package cli_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/app/cli"
)

var updateMessages = flag.Bool("update-messages", false, "write testdata/messages.txt from what is said now")

// A provoked is an error and the command that causes it.
type provoked struct {
	name  string
	args  string            // separated by blanks
	files map[string]string // in addition to rows.jsonl
	env   string            // NAME=VALUE
}

const rowsText = "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n{\"a\":3}\n"

// flowOf reads rows by a node, and writes the result.
func flowOf(node string) map[string]string {
	return map[string]string{"f.yaml": "version: 1\nnodes:\n  in: {source: jsonl, with: {path: rows.jsonl}}\n  x: {" + node + ", from: in}\n  out: {sink: jsonl, from: x, with: {path: out.jsonl}}\n"}
}

// whereOf filters rows by a formula.
func whereOf(formula string) map[string]string {
	return flowOf("op: filter, with: {where: '" + strings.ReplaceAll(formula, "'", "''") + "'}")
}

// itemOf measures, or hashes, an item of a file.
func itemOf(name, content, node string) map[string]string {
	return map[string]string{
		"in/data/0_x." + name: content,
		"f.yaml":              "version: 1\nnodes:\n  in: {source: underfolder, with: {path: in}}\n  y: {" + node + ", from: in}\n  out: {sink: underfolder, from: y, with: {path: out}}\n",
	}
}

// sourceOf reads a file by a source.
func sourceOf(kind, name, content string) map[string]string {
	return map[string]string{
		name:     content,
		"f.yaml": "version: 1\nnodes:\n  in: {source: " + kind + ", with: {path: " + name + "}}\n  out: {sink: underfolder, from: in, with: {path: out}}\n",
	}
}

func text(yaml string) map[string]string { return map[string]string{"f.yaml": yaml} }

const (
	hashX  = "map: hash, with: {items: [x], into: h}"
	statsX = "map: image-stats, with: {item: x}"
	runIt  = "run f.yaml --progress none --workers 1"
)

// provocations is a corpus of possible errors, one or more of each class.
func provocations() []provoked {
	all := []provoked{
		{name: "no command of that name", args: "rnu"},
		{name: "no flag of that name", args: "run f.yaml --workrs x"},
		{name: "no flag of a letter", args: "why f.yaml x -1"},
		{name: "a flag without its value", args: "run f.yaml --workers"},
		{name: "a flag that is not a number", args: "run f.yaml --workers x"},
		{name: "a flag that is too large", args: "run f.yaml --workers 99999999999999999999"},
		{name: "a flag that is not a boolean", args: "run f.yaml --dry-run=maybe"},
		{name: "a flag of NAME=VALUE", args: "run f.yaml --set x"},
		{name: "a word too few", args: "run"},
		{name: "a word too many", args: "run f.yaml g.yaml"},
		{name: "a flag that must be given", args: "draw f.yaml"},
		{name: "flags that exclude each other", args: "validate jsonl:rows.jsonl --infer --schema s.yaml"},
		{name: "a component of another kind", args: "op hash -i jsonl:rows.jsonl -o x"},
		{name: "no such file", args: "run none.yaml"},
		{name: "a directory for a file", args: "run ."},
		{name: "a report in no directory", args: runIt + " --report none/report.json", files: flowOf("op: clone")},
		{name: "an export that is none", args: "import rows.jsonl"},
		{name: "a cache in a file", args: "stats --cache rows.jsonl"},
		{name: "a cache in a device", args: runIt + " --cache /dev/null", files: flowOf("op: clone")},
		{name: "a directory that is not a cache", args: runIt + " --cache other", files: map[string]string{"f.yaml": flowOf("op: clone")["f.yaml"], "other/x": ""}},
		{name: "a wrong setting", args: runIt, files: flowOf("op: clone"), env: "LARDER_VERIFY=2"},
		{name: "an output that is taken", args: runIt, files: map[string]string{"f.yaml": flowOf("op: clone")["f.yaml"], "out.jsonl": ""}},
		{name: "a file for an underfolder", args: "op clone -i rows.jsonl -o x --progress none"},
		{name: "a map for a set of text", args: "op split --sizes {a -i jsonl:rows.jsonl -o x"},

		{name: "an empty flow", args: "lint f.yaml", files: text("")},
		{name: "a flow with a control character", args: "lint f.yaml", files: text("version: 1\n\x00")},
		{name: "a flow that is a word", args: "lint f.yaml", files: text("hello\n")},
		{name: "a flow in bytes", args: "lint f.yaml", files: text("a: \x80\xff\x1b[2J\n")},
		{name: "a long line", args: "lint f.yaml", files: text("version: 1\nnodes: {a: {source: " + strings.Repeat("x", 5000) + "}}\n")},
		{name: "a misspelt field alone", args: "lint f.yaml", files: text("version: 1\nnods: {}\n")},
		{name: "a misspelt field of a node", args: "lint f.yaml", files: text("version: 1\nnodes: {a: {sorce: jsonl}}\n")},
		{name: "a misspelt parameter alone", args: "lint f.yaml", files: flowOf("op: repeat, with: {tims: 2}")},
		{name: "a node that is a word", args: "lint f.yaml", files: text("version: 1\nnodes: {a: b}\n")},
		{name: "a number too small", args: "lint f.yaml", files: text("version: 1\ndefaults: {workers: -1}\nnodes: {}\n")},
		{name: "an empty sweep", args: "lint f.yaml", files: text("version: 1\nsweep: {a: []}\nnodes: {}\n")},
		{name: "no file to include", args: "lint f.yaml", files: text("version: 1\ninclude: none.yaml\nnodes: {}\n")},
		{name: "an empty path", args: "lint f.yaml", files: text("version: 1\nnodes: {a: {source: jsonl, with: {path: ''}}}\n")},
		{name: "a step that is a word", args: "lint f.yaml", files: flowOf("op: map-if, with: {step: hash, where: a}")},

		{name: "an index that there is not", args: runIt, files: flowOf("op: index, with: {indices: [9]}")},
		{name: "sizes that leave a rest", args: runIt, files: flowOf("op: split, with: {sizes: {a: 1}}")},
		{name: "nothing to sort by", args: runIt, files: flowOf(`op: sort, with: {by: '{"k": a}'}`)},

		{name: "a command that there is not", args: runIt, files: flowOf("map: exec, with: {command: [no-such-command], items: [a], into: [r]}")},
		{name: "a command that may not be run", args: runIt, files: flowOf("map: exec, with: {command: [./rows.jsonl], items: [a], into: [r]}")},
		{name: "a command that ends itself", args: runIt, files: flowOf("map: exec, with: {command: [sh, -c, kill -9 $$], items: [a], into: [r]}")},
		{name: "a command that makes nothing", args: runIt, files: flowOf(`map: exec, with: {command: ["true"], items: [a], into: [r]}`)},
		{name: "a code file that there is not", args: runIt, files: flowOf("map: exec, with: {command: [sh], items: [a], into: [r], code: [none.sh]}")},

		{name: "a document to an image", args: runIt, files: itemOf("json", "{}", "map: convert, with: {to: {x: png}}")},
		{name: "a document to an array", args: runIt, files: itemOf("json", "{}", "map: convert, with: {to: {x: npy}}")},
		{name: "a document to a table", args: runIt, files: itemOf("json", "{}", "map: convert, with: {to: {x: csv}}")},

		{name: "files that are no items", args: runIt, files: map[string]string{"in/data/0_x.json": "1", "in/data/odd": "", "f.yaml": "version: 1\nnodes:\n  in: {source: underfolder, with: {path: in}}\n  out: {sink: jsonl, from: in, with: {path: out.jsonl}}\n"}},
		{name: "packed rows that are not", args: runIt, files: sourceOf("csv", "t.csv.gz", "a,b\n1,2\n")},
	}
	for _, s := range []string{"", "[1]", "version: 1\nitems: 3\n", "version: 1\nitems: {a: {kind: image, width: x}}\n", "version: 1\nitems: {a: {kind: document, schema: {type: 3}}}\n", "version: 1\nitems: {a: {kind: x}}\n"} {
		all = append(all, provoked{name: fmt.Sprintf("schema %q", s), args: "validate jsonl:rows.jsonl --schema s.yaml", files: map[string]string{"s.yaml": s}})
	}
	for _, formula := range []string{"", "a ==", "a = 1", "a + ", "a like 1", "@", `"x`, "99999999999999999999", "0x", `b matches "("`, "len()", "a and 1", "a in 3", "a > b", "a.x", "a[0]", "upper(a)", "1 / 0", "a % 0", `int("x")`, `date("x")`, `duration("x")`, `fromJSON("{")`, "toPairs(a)", "map(1..100000000, #) == []", "[1, 2]", "nil", "b.x", "filter([1], # > b)", "[1][7]", "zz", "foo(a)", "#"} {
		all = append(all, provoked{name: fmt.Sprintf("formula %q", formula), args: runIt, files: whereOf(formula)})
	}
	for _, doc := range []string{"", "hello", "{\"a\": ", "{\"a\":1,\"a\":2}", "{'a':1}", "[1 2]", "\xff", "1e999", "{} {}"} {
		all = append(all, provoked{name: fmt.Sprintf("json %q", doc), args: runIt, files: itemOf("json", doc, hashX)})
	}
	for _, doc := range []string{"\x00", "a: [1", "a: !!binary '%'", "a: &a [*a]", "\xe9", "a: @"} {
		all = append(all, provoked{name: fmt.Sprintf("yaml %q", doc), args: runIt, files: itemOf("yaml", doc, hashX)})
	}
	for _, ext := range []string{"png", "jpeg", "gif", "bmp", "tiff", "webp", "npy", "npz", "csv", "txt"} {
		for _, content := range []string{"", "not an image, \xff nor \"an array"} {
			if content == "" && (ext == "csv" || ext == "txt") {
				continue // it succeeds
			}
			all = append(all, provoked{name: fmt.Sprintf("%s %q", ext, content), args: runIt, files: itemOf(ext, content, hashX)})
		}
	}
	for _, line := range []string{"[\n{}]", "{\n\"a\":1}", "{\"a\":1},", "{\"a\":1}{}", "hello", "\xff", "1", "{'a':1}"} {
		all = append(all, provoked{name: fmt.Sprintf("jsonl %q", line), args: runIt, files: sourceOf("jsonl", "t.jsonl", line)})
	}
	for _, table := range []string{"", "a,b\n1\n", "a,b\n1,x\"y\n", "a,b\n1,\"x\n", "a,a\n", "a,b\r1,2\r", "\x1f\x8b\x00,b\n"} {
		all = append(all, provoked{name: fmt.Sprintf("table %q", table), args: runIt, files: sourceOf("csv", "t.csv", table)})
	}
	return all
}

// run returns the status of the program and its stderr, with D for the directory.
func (p provoked) run(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("LARDER_CACHE", filepath.Join(dir, "cache"))
	if name, value, ok := strings.Cut(p.env, "="); ok {
		t.Setenv(name, value)
	}
	files := map[string]string{"rows.jsonl": rowsText}
	for name, content := range p.files {
		files[name] = content
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var stderr strings.Builder
	status := cli.Main(strings.Fields(p.args), io.Discard, &stderr)
	return fmt.Sprintf("[%d] %s", status, strings.ReplaceAll(stderr.String(), dir, "D"))
}

// leaks matches text that no message may have: Go types, names of its packages and
// functions, messages of libraries, system calls and logs.
var leaks = regexp.MustCompile(`interface \{|\bmap\[|\[\](any|byte|string|int|uint8)|\*[a-z]+\.[A-Z]|\b(image|array|codec|schema|big|time|json|reflect|runtime|strconv|os|fs|exec)\.[A-Z]|\bu?int(8|16|32|64)\b|` +
	`goroutine|runtime error|panic|strconv|unmarshal|EOF|fork/exec|\b(lstat|stat|fdopendir|readdirent|openat|open|mkdir|rename) /|\.go:\d|level=|msg=|%!|<nil>|0x[0-9a-f]{8}|` +
	`unexpected token|Operator\(|invalid character|looking for beginning|cannot construct|mismatched types|bare "|non-quoted|extraneous|codec:|store:|inventory:|order:|larder: larder|\.larder-\d|!!(str|seq|map|int)\b|metaschema|arg\(s\)|flag needs|SOI|zip:|gzip:|magic number|[^\x20-\x7e\n…·→]`)

// TestMessages checks that messages for all possible errors are human-readable and match
// the file of messages.
func TestMessages(t *testing.T) {
	var now strings.Builder
	for _, p := range provocations() {
		t.Run(p.name, func(t *testing.T) {
			got := p.run(t)
			if leak := leaks.FindString(got); leak != "" {
				t.Errorf("it has %q:\n%s", leak, got)
			}
			if len(got) > 1500 {
				t.Errorf("it has %d bytes:\n%.500s", len(got), got)
			}
			if strings.HasPrefix(got, "[0]") && !strings.Contains(got, "warning") {
				t.Errorf("nothing is said: %s", got)
			}
			fmt.Fprintf(&now, "\n#### %s\n%s\n", p.name, strings.TrimSpace(got))
		})
	}
	const file = "testdata/messages.txt"
	if *updateMessages {
		if err := os.WriteFile(file, []byte(now.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := string(readFile(t, file))
	sections := map[string]string{}
	for s := range strings.SplitSeq(want, "\n#### ") {
		name, message, _ := strings.Cut(s, "\n")
		sections[name] = message
	}
	for s := range strings.SplitSeq(now.String(), "\n#### ") {
		if name, message, _ := strings.Cut(s, "\n"); sections[name] != message {
			t.Errorf("%s: it says\n%swant\n%s", name, message, sections[name])
		}
	}
}
