package render_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/render"
)

// hostile is a flow whose names have special characters of every format.
func hostile(t testing.TB) *flow.Flow {
	t.Helper()
	names := []string{
		`<script>alert("1")</script>`, `a"b`, `back\slash\`, "two\nlines", "&amp; & \\N", "`**md**`", "end", "n1]:::x", "#35;", "%% no comment",
		"\x00\x1b[31m", "\xff\xfe", "日本語の名前", "  ", "-->|x|", "]]>", "{a|b}", strings.Repeat("long", 200), "\uFFFE",
	}
	split := &component.Component{Kind: component.Op, Name: `split & "more"`, Outs: true}
	cat := &component.Component{Kind: component.Op, Name: "cat\n<b>", Many: true}
	nodes := []*flow.Node{
		{Name: "", Component: &component.Component{Kind: component.Source, Name: ""}, Options: flow.Options{Cache: &cache.Options{Policy: `<lru & "more">`}}},
		{Name: "split", Component: split, From: []flow.Input{{Node: ""}}},
	}
	for _, name := range names {
		nodes = append(nodes, &flow.Node{
			Name: name, Component: cat, From: []flow.Input{{Node: "split", Output: name + "]"}},
			Options: flow.Options{Keep: true, Checkpoint: true},
		})
	}
	f, err := flow.New(`hostile "<&>\`, "", nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestHostileNames(t *testing.T) {
	f := hostile(t)
	r := &flow.Report{Flow: "<x>", Status: "<y>", Error: "\x00&<", Seconds: -1, Nodes: []flow.NodeReport{
		{Name: `a"b`, Samples: -5, Computed: -1, FromMemory: 1<<63 - 1, FromStore: 1<<63 - 1, Failed: 3, Decision: "<z>"},
	}}
	for _, o := range []render.Options{{}, {Report: r}} {
		d := render.Of(f, o)
		elements := elementsOf(t, written(t, d.SVG))
		if n := elements["script"]; n != 0 {
			t.Error("a name became an element")
		}
		for _, text := range []string{written(t, d.DOT), written(t, d.Mermaid)} {
			if strings.ContainsAny(text, "\x00\x1b") || strings.Contains(text, "<script") && strings.Contains(text, "flowchart") {
				t.Errorf("not escaped:\n%s", text)
			}
		}
		for line := range strings.Lines(written(t, d.Mermaid)) {
			if n := strings.Count(line, `"`); n%2 != 0 || n > 2 {
				t.Errorf("%d quotes in %s", n, line)
			}
		}
	}
}

// elementsOf counts the elements of a document by name.
func elementsOf(t testing.TB, document string) map[string]int {
	t.Helper()
	elements := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
}
