package flow_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/store/memory"
)

// TestBuiltFlow runs a flow built in Go with every kind of edge: one dataset, several with
// fixed names, one per group of the data, one of several, and several joined.
func TestBuiltFlow(t *testing.T) {
	dir := t.TempDir()
	letters, err := underfolder.Open("../examples/letters/data", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	b := flow.NewBuilder("built", dir)
	source := b.Add("letters", letters)
	stats := b.Add("stats", mapper.ImageStats{}, source).With(flow.Options{Checkpoint: true})
	upper := b.Add("", dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
		return s.Without("image"), nil
	}), stats)
	chunks := b.Add("chunks", op.Chunk{N: 2}, upper)
	groups := b.Add("groups", op.GroupBy{By: "metadata.color"}, chunks.Output("0"))
	again := b.Add("again", op.Cat{}, chunks.Output("1"), groups)
	b.Add("swap", func(_ context.Context, in []component.Samples) (component.Data, error) {
		return component.Data{Parts: []component.Samples{in[1], in[0]}, Names: []string{"a", "b"}}, nil
	}, stats, again)
	b.Add("look", func(ctx context.Context, d component.Data) error {
		ds, err := d.Single()
		if err != nil {
			return err
		}
		for s, err := range dataset.All(ctx, ds) {
			if err != nil {
				return err
			}
			v, err := s.Value(ctx, "metadata")
			if err != nil {
				return err
			}
			seen = append(seen, v.(map[string]any)["letter"].(string))
		}
		return nil
	}, again)
	b.Add("out", underfolder.Sink{Path: "out"}, groups)
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	if n := node(t, r, "stats"); n.Computed != 26 {
		t.Errorf("%d computed, want 26", n.Computed)
	}
	if n := node(t, r, "out"); n.Samples != 13 {
		t.Errorf("%d samples written, want the 13 of the first half", n.Samples)
	}
	if got := strings.Join(seen[:13], ""); got != "nopqrstuvwxyz" || len(seen) != 26 {
		t.Errorf("%d letters seen, first %s", len(seen), got)
	}
	data, err := f.Open(t.Context(), "swap", flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(data.Names, []string{"a", "b"}) || data.Parts[0].Len() != 26 {
		t.Errorf("outputs %v", data.Names)
	}
}

func TestBuiltFlowIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		build func(b *flow.Builder)
		want  string
	}{
		"what is not a component": {func(b *flow.Builder) { b.Add("x", 3) }, "int is not a component"},
		"a bad name":              {func(b *flow.Builder) { b.Add("a.b", underfolder.Source{Path: "p"}) }, `"a.b" cannot name a node`},
		"a missing parameter":     {func(b *flow.Builder) { b.Add("x", underfolder.Source{}) }, "node x: needs the parameter path"},
		"what Check refuses": {func(b *flow.Builder) {
			b.Add("x", op.Chunk{}, b.Add("in", underfolder.Source{Path: "p"}))
		}, "node x: n is 0; give at least 1"},
		"a wrong word": {func(b *flow.Builder) {
			b.Add("x", mapper.ImageStats{Format: "xml"}, b.Add("in", underfolder.Source{Path: "p"}))
		}, `node x: format cannot be "xml"`},
		"two of one name": {func(b *flow.Builder) {
			b.Add("x", underfolder.Source{Path: "p"})
			b.Add("x", underfolder.Source{Path: "p"})
		}, `two nodes are named "x"`},
		"an input that is missing": {func(b *flow.Builder) { b.Add("x", op.Chunk{N: 2}) }, "has no input; add from: NODE"},
		"an output that is not there": {func(b *flow.Builder) {
			b.Add("y", op.Chunk{N: 2}, b.Add("x", underfolder.Source{Path: "p"}).Output("train"))
		}, "node x has a single output"},
	} {
		t.Run(name, func(t *testing.T) {
			b := flow.NewBuilder("wrong", t.TempDir())
			c.build(b)
			if _, err := b.Flow(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestNamesAreFound(t *testing.T) {
	b := flow.NewBuilder("names", t.TempDir())
	in := b.Add("", underfolder.Source{Path: "p"})
	b.Add("", op.Chunk{N: 2}, in)
	b.Add("", op.Chunk{N: 3}, in)
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range f.Nodes {
		names = append(names, n.Name)
	}
	if want := []string{"underfolder-1", "chunk-1", "chunk-2"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
