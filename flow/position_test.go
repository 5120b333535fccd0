package flow_test

import (
	"testing"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/mapper"
)

// TestPositions checks that a node has the position of its name, and knows which parameters
// may differ in the next run.
func TestPositions(t *testing.T) {
	f, err := flow.Parse("dir/flow.yaml", []byte(`version: 1
vars: {seed: 1, quality: low}
nodes:
  in: {source: underfolder, with: {path: data}}
  flip:
    map: image-flip
    from: in
    with: {seed: "${seed}", format: {switch: "${quality}", cases: {low: jpeg, high: png}}, epoch: 0}
  all: {map: image-flip, from: in, with: {switch: "${quality}", cases: {low: {seed: 1}, high: {seed: 2}}}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Nodes[1].Position(), (flow.Position{File: "dir/flow.yaml", Line: 5, Column: 3}); got != want {
		t.Errorf("it stands at %v, want %v", got, want)
	}
	for param, want := range map[string]bool{"seed": true, "format": true, "epoch": false, "per": false, "": false} {
		if f.Nodes[1].Varies(param) != want {
			t.Errorf("%q may be another: %v", param, !want)
		}
	}
	if !f.Nodes[2].Varies("seed") {
		t.Error("parameters that are chosen as a whole may all be others")
	}
	b := flow.NewBuilder("go", ".")
	b.Add("flip", mapper.ImageFlip{}, b.Add("in", underfolder.Source{Path: "data"}))
	f, err = b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	if f.Nodes[1].Position() != (flow.Position{}) || !f.Nodes[1].Varies("seed") {
		t.Error("what is built in Go stands nowhere, and may be built otherwise")
	}
}
