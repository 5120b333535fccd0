package flow_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/store/memory"
)

// parseFiles writes files to a directory and parses flow.yaml.
func parseFiles(t *testing.T, files, vars map[string]string) (*flow.Flow, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return flow.Parse(filepath.Join(dir, "flow.yaml"), []byte(files["flow.yaml"]), vars)
}

func mustParse(t *testing.T, files, vars map[string]string) *flow.Flow {
	t.Helper()
	f, err := parseFiles(t, files, vars)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func namesOf(f *flow.Flow) (names []string) {
	for _, n := range f.Nodes {
		names = append(names, n.Name)
	}
	return names
}

func find(t *testing.T, f *flow.Flow, name string) *flow.Node {
	t.Helper()
	n, err := f.Node(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const sweeping = `version: 1
vars: {width: 8}
sweep: {size: [16, 32], mode: [a, b]}
nodes:
  letters: {source: underfolder, with: {path: data}}
  small: {map: image-resize, from: letters, with: {width: "${size}"}}
  marked: {map: duplicate, from: small, with: {item: image, into: "${mode}"}}
  other: {map: image-resize, from: letters, with: {width: "${width}"}}
  out: {sink: underfolder, from: marked, with: {path: "out/${size}/${mode}"}}
`

func TestSweep(t *testing.T) {
	f := mustParse(t, map[string]string{"flow.yaml": sweeping}, nil)
	want := []string{
		"letters", "small@size=16", "small@size=32",
		"marked@size=16,mode=a", "marked@size=16,mode=b", "marked@size=32,mode=a", "marked@size=32,mode=b", "other",
		"out@size=16,mode=a", "out@size=16,mode=b", "out@size=32,mode=a", "out@size=32,mode=b",
	}
	if got := namesOf(f); !slices.Equal(got, want) {
		t.Fatalf("nodes %v\nwant  %v", got, want)
	}
	n := find(t, f, "marked@size=32,mode=b")
	if from := n.From[0].Node; from != "small@size=32" {
		t.Errorf("%s reads %s", n.Name, from)
	}
	if p := find(t, f, "out@size=32,mode=a").Params.(underfolder.Sink); p.Path != "out/32/a" {
		t.Errorf("path %s", p.Path)
	}
	if p := find(t, f, "small@size=16").Params.(mapper.ImageResize); p.Width != 16 {
		t.Errorf("width %d", p.Width)
	}
}

// TestSweepIsFixed checks that a set value replaces all values of a sweep.
func TestSweepIsFixed(t *testing.T) {
	f := mustParse(t, map[string]string{"flow.yaml": sweeping}, map[string]string{"size": "7"})
	want := []string{"letters", "small@size=7", "marked@size=7,mode=a", "marked@size=7,mode=b", "other", "out@size=7,mode=a", "out@size=7,mode=b"}
	if got := namesOf(f); !slices.Equal(got, want) {
		t.Errorf("nodes %v\nwant  %v", got, want)
	}
}

// TestSweepSharesWhatIsTheSame checks that nodes that do not depend on the sweep are
// computed once. The name of a node selects all its variants.
func TestSweepSharesWhatIsTheSame(t *testing.T) {
	content := `version: 1
sweep: {times: [1, 2]}
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, checkpoint: true}
  many: {op: repeat, from: stats, with: {times: "${times}"}}
  out: {sink: underfolder, from: many, with: {path: "out${times}"}}
  other: {sink: underfolder, from: stats, with: {path: other}}
`
	f := mustParse(t, map[string]string{"flow.yaml": content}, nil)
	if err := os.CopyFS(filepath.Join(f.Dir, "data"), os.DirFS("../examples/letters/data")); err != nil {
		t.Fatal(err)
	}
	r, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{})), Only: []string{"out"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, samples := range map[string]int64{"stats": 26, "out@times=1": 26, "out@times=2": 52} {
		if n := node(t, r, name); n.Samples != samples {
			t.Errorf("%s: %d samples, want %d", name, n.Samples, samples)
		}
	}
	if n := node(t, r, "stats"); n.Computed != 26 {
		t.Errorf("%d computed, want 26", n.Computed)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, "other")); !os.IsNotExist(err) {
		t.Error("a node that was not requested was run")
	}
}

const variables = `version: 1
vars: {out: "${root}/${size}", root: "${where}/out", where: data, size: 8, both: [1, "${size}"], dollar: "$${size}"}
profiles:
  large: {size: 64, where: "1"}
x-small: &small {width: "${size}", filter: box}
x-more: [&more {into: a}, {<<: *more, item: b}]
nodes:
  letters: {source: underfolder, with: {path: data}}
  small: {map: image-resize, from: letters, with: {<<: *small, filter: bilinear}}
  copied: {map: duplicate, from: small, with: {item: image, <<: [*more, {into: c}]}}
  marked: {map: duplicate, from: copied, with: {item: image, into: "${dollar}"}}
  out: {sink: underfolder, from: marked, with: {path: "${out}"}}
`

// TestVariablesOfVariables checks that variables may use others in any order, with the
// values set for these. A value that is set is used literally.
func TestVariablesOfVariables(t *testing.T) {
	for _, c := range []struct {
		vars  map[string]string
		out   string
		width int
	}{
		{nil, "data/out/8", 8},
		{map[string]string{"size": "16"}, "data/out/16", 16},
		{map[string]string{"root": "a", "size": "2"}, "a/2", 2},
		{map[string]string{"root": "${where}"}, "${where}/8", 8},
	} {
		f := mustParse(t, map[string]string{"flow.yaml": variables}, c.vars)
		if got := find(t, f, "out").Params.(underfolder.Sink).Path; string(got) != c.out {
			t.Errorf("%v: the path is %s, want %s", c.vars, got, c.out)
		}
		if got := find(t, f, "small").Params.(mapper.ImageResize); got.Width != c.width || got.Filter != "bilinear" {
			t.Errorf("%v: %+v", c.vars, got)
		}
		if got := find(t, f, "marked").Params.(mapper.Duplicate).Into; got != "${size}" {
			t.Errorf("a dollar is %s", got)
		}
		if got := find(t, f, "copied").Params.(mapper.Duplicate); got.Item != "image" || got.Into != "a" {
			t.Errorf("merged to %+v", got)
		}
	}
	included := map[string]string{
		"flow.yaml":     "version: 1\ninclude: sub/more.yaml\nvars: {a: 1, root: \"x${a}\"}\n",
		"sub/more.yaml": "version: 1\nvars: {root: y, b: \"${root}/b\"}\nnodes:\n  letters: {source: underfolder, with: {path: \"${b}\"}}\n",
	}
	if got := find(t, mustParse(t, included, nil), "letters").Params.(underfolder.Source).Path; got != "x1/b" {
		t.Errorf("an included file has %s", got)
	}
}

func TestProfiles(t *testing.T) {
	vars, err := flow.Profile("flow.yaml", []byte(variables), "large")
	if err != nil {
		t.Fatal(err)
	}
	f := mustParse(t, map[string]string{"flow.yaml": variables}, vars)
	if got := find(t, f, "out").Params.(underfolder.Sink).Path; got != "1/out/64" {
		t.Errorf("the path is %s", got)
	}
	if _, err := flow.Profile("flow.yaml", []byte(variables), "larg"); err == nil || !strings.Contains(err.Error(), `has no profile "larg"`) || !strings.Contains(err.Error(), "large") {
		t.Errorf("got %v", err)
	}
}

func TestInclude(t *testing.T) {
	f := mustParse(t, map[string]string{
		"flow.yaml": `version: 1
vars: {width: 9, part: parts/measure}
include: ["${part}.yaml"]
defaults: {workers: 1}
nodes:
  half: {op: slice, from: small, with: {stop: "${half}"}}
`,
		"parts/measure.yaml": `version: 1
vars: {width: 5, half: 13}
include: deep/source.yaml
defaults: {keep: true}
nodes:
  small: {map: image-resize, from: letters, with: {width: "${width}"}}
`,
		"parts/deep/source.yaml": "version: 1\nvars: {width: 1}\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n",
	}, map[string]string{"half": "3"})
	if got, want := namesOf(f), []string{"letters", "small", "half"}; !slices.Equal(got, want) {
		t.Fatalf("nodes %v, want %v", got, want)
	}
	if n := find(t, f, "letters"); n.Dir != filepath.Join(f.Dir, "parts", "deep") {
		t.Errorf("paths of an included file start at %s", n.Dir)
	}
	n := find(t, f, "small")
	if w := n.Params.(mapper.ImageResize).Width; w != 9 {
		t.Errorf("width %d, want that of the including file", w)
	}
	if !n.Options.Keep || n.Options.Workers != 0 {
		t.Errorf("options %+v, want the defaults of its own file", n.Options)
	}
	if p := find(t, f, "half").Params.(op.Slice); *p.Stop != 3 {
		t.Errorf("stop %d, want what was set from outside", *p.Stop)
	}
	var files []string
	for _, file := range f.Files {
		rel, _ := filepath.Rel(f.Dir, file)
		files = append(files, filepath.ToSlash(rel))
	}
	if want := []string{"flow.yaml", "parts/measure.yaml", "parts/deep/source.yaml"}; !slices.Equal(files, want) {
		t.Errorf("files %v, want %v", files, want)
	}
}

func TestSwitch(t *testing.T) {
	content := `version: 1
vars: {mode: train}
nodes:
  letters: {source: underfolder, with: {path: {switch: "${mode}", cases: {train: data, "true": yes}, default: "other-${mode}"}}}
  some: {op: slice, from: letters, with: {switch: "${mode}", cases: {train: {start: 3}, test: {stop: 3}, x: {}}}}
`
	for mode, want := range map[string]string{"train": "data", "x": "other-x", "test": "other-test"} {
		f := mustParse(t, map[string]string{"flow.yaml": content}, map[string]string{"mode": mode})
		if p := f.Nodes[0].Params.(underfolder.Source).Path; string(p) != want {
			t.Errorf("%s: path %s, want %s", mode, p, want)
		}
		if p := f.Nodes[1].Params.(op.Slice); (p.Start != nil) != (mode == "train") || (p.Stop != nil) != (mode == "test") {
			t.Errorf("%s: slice %+v", mode, p)
		}
	}
}

func TestWrongLanguage(t *testing.T) {
	const source = "  letters: {source: underfolder, with: {path: data}}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a file that is not there": {map[string]string{"flow.yaml": "version: 1\ninclude: nope.yaml\n"}, "flow.yaml:2:10: "},
		"a directory":              {map[string]string{"flow.yaml": "version: 1\ninclude: [.]\n"}, "is not a file"},
		"a file that includes itself": {map[string]string{
			"flow.yaml": "version: 1\ninclude: b.yaml\n", "b.yaml": "version: 1\ninclude: [flow.yaml]\n",
		}, "b.yaml:2:11: flow.yaml includes itself: "},
		"an error in an included file": {map[string]string{
			"flow.yaml": "version: 1\ninclude: b.yaml\n", "b.yaml": "version: 1\nnodes:\n  x: {source: underfolder, with: {pth: data}}\n",
		}, `b.yaml:3:35: source underfolder has no field "pth"`},
		"a missing input in an included file": {map[string]string{
			"flow.yaml": "version: 1\ninclude: b.yaml\n", "b.yaml": "version: 1\nnodes:\n  x: {op: reverse, from: y}\n",
		}, `b.yaml:3:26: unknown node "y"`},
		"a node of both files": {map[string]string{
			"flow.yaml": "version: 1\ninclude: b.yaml\nnodes:\n" + source, "b.yaml": "version: 1\nnodes:\n" + source,
		}, `flow.yaml:4:3: two nodes are named "letters"`},
		"no switch case": {map[string]string{"flow.yaml": "version: 1\nnodes:\n  letters: {source: underfolder, with: {path: {switch: trian, cases: {train: a}}}}\n"},
			`flow.yaml:3:56: switch: no case "trian" and no default; did you mean "train"?`},
		"a sweep of nothing":   {map[string]string{"flow.yaml": "version: 1\nsweep: {a: []}\nnodes:\n" + source}, "sweep a must be a list of values"},
		"a sweep of lists":     {map[string]string{"flow.yaml": "version: 1\nsweep: {a: [[1]]}\nnodes:\n" + source}, "a value of sweep a must be a string or a number"},
		"a sweep and variable": {map[string]string{"flow.yaml": "version: 1\nvars: {a: 1}\nsweep: {a: [1]}\nnodes:\n" + source}, `"a" is in vars and in sweep`},
		"variants that write the same": {map[string]string{"flow.yaml": "version: 1\nsweep: {a: [1, 2]}\nnodes:\n" + source +
			"  some: {op: slice, from: letters, with: {stop: \"${a}\"}}\n  out: {sink: underfolder, from: some, with: {path: out}}\n"},
			"nodes out@a=1 and out@a=2 write the same path"},
		"a sweep that is included": {map[string]string{"flow.yaml": "version: 1\ninclude: b.yaml\n", "b.yaml": "version: 1\nsweep: {a: [1]}\nnodes:\n" + source},
			"b.yaml:2:8: sweep belongs in the file that is run"},
		"an error in a node that becomes several": {map[string]string{"flow.yaml": "version: 1\nsweep: {a: [1, 2]}\nnodes:\n  letters: {source: underfolder, with: {path: \"${a}\", pth: 1}}\n"},
			`flow.yaml:4:55: source underfolder has no field "pth"`},
		"a wrong mapper of an operator": {map[string]string{"flow.yaml": "version: 1\nnodes:\n" + source +
			"  x: {op: map-if, from: letters, with: {range: \":3\", step: {map: exec, with: {command: [sh], items: [image], into: [x], code: [nope.sh]}}}}\n"},
			"flow.yaml:4:34: exec: "},
		"a variable of itself":          {map[string]string{"flow.yaml": "version: 1\nvars: {a: \"${b}\", b: \"x${a}\"}\nnodes:\n" + source}, "variable a depends on itself: a <- b <- a"},
		"a variable of a sweep":         {map[string]string{"flow.yaml": "version: 1\nvars: {b: \"x${a}\"}\nsweep: {a: [1]}\nnodes:\n" + source}, `flow.yaml:2:11: variable "a" is in sweep`},
		"an unknown variable in one":    {map[string]string{"flow.yaml": "version: 1\nvars: {b: \"x${c}\"}\nnodes:\n" + source}, `flow.yaml:2:11: unknown variable "c"`},
		"a profile of no variable":      {map[string]string{"flow.yaml": "version: 1\nvars: {width: 1}\nprofiles: {fast: {widht: 2}}\nnodes:\n" + source}, `flow.yaml:3:19: profile fast sets "widht", which is not a variable; did you mean "width"?`},
		"an alias within its anchor":    {map[string]string{"flow.yaml": "version: 1\nx-a: &a {b: *a}\nnodes:\n" + source}, "flow.yaml:2:13: alias *a is inside &a, so the expansion has no end"},
		"a merge of a string":           {map[string]string{"flow.yaml": "version: 1\nx-a: {<<: b}\nnodes:\n" + source}, `<< must name a mapping, or a list of mappings, not the string "b"`},
		"what is not YAML":              {map[string]string{"flow.yaml": "version: 1\nnodes:\n  a: {source: x\n  b: y\n"}, "flow.yaml:3:6: not YAML: unterminated mapping; add a comma or }\n      a: {source: x\n         ^"},
		"what is not YAML and included": {map[string]string{"flow.yaml": "version: 1\ninclude: b.yaml\n", "b.yaml": "a: [1"}, "b.yaml:1:4: not YAML: unterminated list"},
		"too many variants": {map[string]string{"flow.yaml": "version: 1\nsweep: {a: [" + strings.Repeat("1, ", 200) + "], b: [" + strings.Repeat("1, ", 200) + "]}\nnodes:\n" +
			"  letters: {source: underfolder, with: {path: \"${a}${b}\"}}\n"}, "would become more than 10000 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseFiles(t, c.files, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestValuesFromOutsideKeepTheirBytes checks that a value that looks like a number is one,
// and that a string keeps its bytes, also line breaks and blanks.
func TestValuesFromOutsideKeepTheirBytes(t *testing.T) {
	flowFile := `version: 1
vars: {x: 8}
nodes:
  letters: {source: underfolder, with: {path: data}}
  marked: {map: set-value, from: letters, with: {key: a, value: "${x}"}}
`
	for text, want := range map[string]any{
		"5": int64(5), " 5 ": int64(5), "1.5": 1.5, "true": true, "a b": "a b", "": "", `"5"`: "5", "'a'": "a", "!!str 5": "5",
		"a\nb": "a\nb", "a\n\n b\n": "a\n\n b\n", "a\r\nb": "a\r\nb", "|\n  x": "|\n  x", "5\n": "5\n", "'a\nb'": "'a\nb'",
		" a ": " a ", "a # b": "a # b", "\"a\" # b": "\"a\" # b", "&x a": "&x a", "[a": "[a", "a: b": "a: b", "# a": "# a", "a\u2028b": "a\u2028b",
	} {
		f := mustParse(t, map[string]string{"flow.yaml": flowFile}, map[string]string{"x": text})
		if got := find(t, f, "marked").Params.(mapper.SetValue).Value; got != want {
			t.Errorf("%q became %#v, want %#v", text, got, want)
		}
	}
}

// TestSmallMistakesOfFiles checks mistakes that were misread or reported twice: each is one
// error with its position.
func TestSmallMistakesOfFiles(t *testing.T) {
	const node = "version: 1\nvars: {a: x, b: y}\nnodes:\n  in: {source: underfolder, with: {path: \"%s\"}}\n"
	for text, want := range map[string][]string{
		fmt.Sprintf(node, "${a"):                                {"f.yaml:4:42: unclosed ${; add }"},
		fmt.Sprintf(node, "${a}/${b"):                           {"f.yaml:4:42: unclosed ${; add }"},
		fmt.Sprintf(node, "$${a"):                               nil,
		fmt.Sprintf(node, "${a}$${"):                            nil,
		fmt.Sprintf(node, "${a}{b"):                             nil,
		"version: 1\nx: &a {<<: *a}\n":                          {"*a is inside &a"},
		"version: 1\nvars: {n: !!python/object 2}\nnodes: {}\n": {"f.yaml:2:11: unsupported tag !!python/object; remove it"},
		"version: 1\nnodes: !mine {}\n":                         {"f.yaml:2:8: unsupported tag !mine; remove it"},
	} {
		_, err := flow.Parse("f.yaml", []byte(text), nil)
		var all flow.Errors
		if (err == nil) != (want == nil) || err != nil && !errors.As(err, &all) || len(all) != len(want) {
			t.Errorf("%q: %v, want %q", text, err, want)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, want %q", text, err, part)
			}
		}
	}
}
