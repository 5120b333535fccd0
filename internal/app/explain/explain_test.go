package explain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/explain"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

func newLarder(t *testing.T) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func action(t *testing.T, name string, code key.Code, times int, args ...any) *key.Action {
	t.Helper()
	op, err := key.NewOp(name, code, key.Param{Name: "times", Value: times})
	if err != nil {
		t.Fatal(err)
	}
	a, err := op.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func keep(t *testing.T, l *larder.Larder, a *key.Action) {
	t.Helper()
	if _, err := larder.Do(t.Context(), l, a, func(context.Context) (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
}

func TestNearest(t *testing.T) {
	l, v1 := newLarder(t), key.Version("1")
	keep(t, l, action(t, "f", v1, 1, "a", "b"))
	keep(t, l, action(t, "f", v1, 2, "x", "b"))
	keep(t, l, action(t, "g", v1, 3, "a", "b"))
	for _, c := range []struct {
		a    *key.Action
		want string
	}{
		{action(t, "f", v1, 3, "a", "b"), "times: changed (1 -> 3)"},
		{action(t, "f", v1, 2, "y", "b"), `argument 0: changed ("x" -> "y")`},
		{action(t, "f", key.Version("2"), 1, "a", "c"), `code: changed (version 1 -> version 2); argument 1: changed ("b" -> "c")`},
		{action(t, "h", v1, 1), ""},
	} {
		d, err := explain.Nearest(t.Context(), l, c.a)
		if got := strings.Join(d.Changes, "; "); err != nil || got != c.want || d.Nearest.IsZero() != (c.want == "") {
			t.Errorf("%s: %q, %v; want %q", c.a.Op().Name(), got, err, c.want)
		}
	}
}

func TestRecordLooksAtEarlierOnes(t *testing.T) {
	l, v1 := newLarder(t), key.Version("1")
	first, second := action(t, "f", v1, 1), action(t, "f", v1, 2)
	keep(t, l, first)
	keep(t, l, second)
	d, err := explain.Record(t.Context(), l, first.Key())
	if err != nil || !d.Nearest.IsZero() {
		t.Errorf("the first differs from %s, %v", d.Nearest, err)
	}
	d, err = explain.Record(t.Context(), l, second.Key())
	if err != nil || d.Nearest != first.Key() || len(d.Changes) != 1 {
		t.Errorf("the second: %+v, %v", d, err)
	}
	if _, err := explain.Record(t.Context(), l, action(t, "f", v1, 3).Key()); err == nil {
		t.Error("a record that is not there was explained")
	}
}

// TestCodeIsComparedByParts checks that code identified by its source is compared part by
// part.
func TestCodeIsComparedByParts(t *testing.T) {
	l := newLarder(t)
	part := func(name, content string) analysis.Part {
		return analysis.Part{Name: name, Where: "calc.go:1", Digest: key.DigestOf([]byte(content))}
	}
	closure := func(parts ...analysis.Part) key.Code {
		id, err := key.Of(parts)
		if err != nil {
			t.Fatal(err)
		}
		if err := known.KeepClosure(t.Context(), l, &analysis.Closure{ID: id, Parts: parts}); err != nil {
			t.Fatal(err)
		}
		return key.Code{Kind: "source", ID: id.String()}
	}
	before := closure(part("func f", "1"), part("func helper", "1"), part("const old", "1"), part("init p", "a"), part("init p", "b"))
	after := closure(part("func f", "1"), part("func helper", "2"), part("var table", "1"), part("init p", "a"), part("init p", "c"))
	keep(t, l, action(t, "f", before, 1))
	d, err := explain.Nearest(t.Context(), l, action(t, "f", after, 1))
	want := "code: func helper changed (calc.go:1)\ncode: var table added (calc.go:1)\ncode: init p changed (calc.go:1)\ncode: const old removed (calc.go:1)"
	if got := strings.Join(d.Changes, "\n"); err != nil || got != want {
		t.Errorf("got\n%s\n%v; want\n%s", got, err, want)
	}
}

func TestTreeText(t *testing.T) {
	tree := explain.Tree{Nodes: []explain.TreeNode{
		{ID: "a", Label: "a", Note: "1 B", Cached: true},
		{ID: "b", Label: "b", Note: "not in the store", From: []string{"a"}},
		{ID: "c", Label: `c "quoted"`, Note: "2 B", Cached: true, From: []string{"b", "a", "gone"}},
	}}
	var b strings.Builder
	if err := tree.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `[x] c "quoted": 2 B
├─ [ ] b: not in the store
│  └─ [x] a: 1 B
├─ [x] a: see above
└─ [ ] gone: not shown
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if err := tree.WriteDOT(&b); err != nil || !strings.Contains(b.String(), `"c" [label="c \"quoted\"\n2 B", fillcolor="#d8f0d8"]`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := tree.WriteMermaid(&b); err != nil || !strings.Contains(b.String(), "n2[\"c #quot;quoted#quot;<br>2 B\"]") || !strings.Contains(b.String(), "n0 --> n1") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestTreeOfMissingRecord(t *testing.T) {
	l := newLarder(t)
	tree, err := explain.TreeOf(t.Context(), l.Store(), action(t, "f", key.Version("1"), 1).Key())
	if err != nil || len(tree.Nodes) != 1 || tree.Nodes[0].Cached {
		t.Errorf("%+v, %v", tree, err)
	}
}
