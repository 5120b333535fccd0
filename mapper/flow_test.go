package mapper_test

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/underfolder"
)

// letters parses a flow over the letters, up to a node called end.
func letters(nodes string) (*flow.Flow, error) {
	return flow.Parse("../examples/letters/test.yaml", []byte("version: 1\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n"+nodes), nil)
}

// TestComposeInAFlow checks that a composed node counts and caches one result per sample,
// equals its steps one by one, and hits in the next run.
func TestComposeInAFlow(t *testing.T) {
	store := memory.New(memory.Options{})
	run := func(nodes string) (seen []string, computed, stored int64) {
		f, err := letters(nodes)
		if err != nil {
			t.Fatal(err)
		}
		l, err := larder.Open(larder.Options{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Run(t.Context(), flow.RunOptions{Larder: l, Only: []string{"end"}})
		if err != nil {
			t.Fatal(err)
		}
		data, err := f.Open(t.Context(), "end", flow.RunOptions{Larder: l})
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range dataset.All(t.Context(), data.Parts[0]) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.Get(t.Context(), "stats.mean.0")
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, fmt.Sprint(s.Keys(), v))
		}
		end := r.Nodes[len(r.Nodes)-1]
		return seen, end.Computed, end.FromStore
	}
	one := `
  end:
    map: compose
    from: letters
    checkpoint: true
    with:
      steps:
        - {map: duplicate, with: {item: image, into: copy}}
        - {map: image-flip, with: {items: [copy], seed: 3}}
        - {map: image-resize, with: {item: copy, into: small, width: 8}}
        - {map: image-stats, with: {item: small}}
        - {map: hash, with: {items: [small]}}
        - {map: drop-keys, with: {keys: [copy, small, image, vowels]}}
`
	several := `
  a: {map: duplicate, from: letters, with: {item: image, into: copy}}
  b: {map: image-flip, from: a, with: {items: [copy], seed: 3}}
  c: {map: image-resize, from: b, with: {item: copy, into: small, width: 8}}
  d: {map: image-stats, from: c, with: {item: small}}
  e: {map: hash, from: d, with: {items: [small]}}
  end: {map: drop-keys, from: e, with: {keys: [copy, small, image, vowels]}}
`
	composed, computed, _ := run(one)
	if computed != 26 {
		t.Errorf("%d executions of 26 samples", computed)
	}
	again, computed, stored := run(one)
	if computed != 0 || stored != 26 {
		t.Errorf("the second time: %d executions and %d cached results of 26", computed, stored)
	}
	apart, _, _ := run(several)
	if !slices.Equal(composed, again) || !slices.Equal(composed, apart) {
		t.Errorf("composed and one by one differ:\n%q\n%q", composed, apart)
	}
}

func TestParametersInAFlow(t *testing.T) {
	for _, c := range []struct{ node, says string }{
		{"{map: image-flip, from: letters, with: {horizontal: 2}}", "horizontal is 2"},
		{"{map: image-flip, from: letters, with: {per: node}}", `per cannot be "node"`},
		{"{map: random-crop, from: letters, with: {width: 3}}", "needs the parameter height"},
		{"{map: image-pad, from: letters, with: {color: red}}", "is not a colour"},
		{"{map: share, from: letters, with: {share: [a], unshare: [a]}}", "item a is in share and in unshare"},
		{"{map: convert, from: letters, with: {to: {image: xyz}}}", "to.image"},
		{"{map: hash, from: letters, with: {algorithm: shake_128}}", "sha512"},
		{"{map: set-value, from: letters, with: {key: a.b}}", "needs the parameter value"},
		{"{map: set-value, from: letters, with: {key: a., value: 1}}", "after the last dot"},
		{"{map: color-jitter, from: letters, with: {hue: 1}}", "hue"},
		{"{map: compose, from: letters, with: {steps: [{map: hsah}]}}", `did you mean "hash"`},
		{"{map: compose, from: letters, with: {steps: [{map: image-flip, with: {vertical: -1}}]}}", "vertical is -1"},
	} {
		_, err := letters("  end: " + c.node + "\n")
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "test.yaml:4:") {
			t.Errorf("%s: the error is %v, want %q", c.node, err, c.says)
		}
	}
	f, err := letters(`
  a: {map: set-value, from: letters, with: {key: metadata.box, value: {x: [1, 2.5, null, y]}}}
  b: {map: set-value, from: a, with: {key: "vowels[-1]", value: U}}
  c: {map: image-pad, from: b, with: {color: 00ff00, width: 40, height: 40}}
  d: {map: random-crop, from: c, with: {width: 9, height: 7, seed: 1, epoch: 2, per: content}}
  e: {map: color-jitter, from: d, with: {brightness: 0.1, hue: [-0.1, 0.1]}}
  f: {map: convert, from: e, with: {to: {metadata: json}}}
  end: {map: format-keys, from: f, with: {format: "my_*"}}
`)
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.Open(t.Context(), "end", flow.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := data.Parts[0].At(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{"my_metadata.box.x.0": int64(1), "my_metadata.box.x[1]": 2.5, "my_metadata.box.x.2": nil, "my_metadata.box.x.3": "y", "my_metadata.letter": "e", "my_vowels.-1": "U"} {
		if v, err := s.Get(t.Context(), path); v != want || err != nil {
			t.Errorf("%s is %v, %v; want %v", path, v, err, want)
		}
	}
	if shared, _ := s.Field("my_vowels"); !shared.Shared {
		t.Error("a shared document that was changed alike in all samples is no longer shared")
	}
	v, err := s.Value(t.Context(), "my_image")
	if err != nil || v.(image.Image).Bounds().Dx() != 9 || v.(image.Image).Bounds().Dy() != 7 {
		t.Errorf("the image is %v, %v", v, err)
	}
}

// TestSharedImages checks that a cropped shared image stays shared. An image with random
// changes per sample becomes the sample's own.
func TestSharedImages(t *testing.T) {
	s := dataset.NewSample(
		dataset.Field{Key: "image", Item: dataset.NewItem("png", numbered(4, 4))},
		dataset.Field{Key: "mask", Item: dataset.NewItem("png", numbered(4, 4)), Shared: true})
	for name, c := range map[string]struct {
		m    dataset.Transform
		want bool
	}{
		"crop":                    {makerOf(t, mapper.ImageCrop{Items: []string{"image", "mask"}, X: 1}), true},
		"flip by position":        {makerOf(t, mapper.ImageFlip{Items: []string{"mask"}, Horizontal: 0.5}), false},
		"flip by content":         {makerOf(t, mapper.ImageFlip{Items: []string{"mask"}, Horizontal: 0.5, Per: "content"}), true},
		"flip by another content": {makerOf(t, mapper.ImageFlip{Items: []string{"image", "mask"}, Horizontal: 0.5, Per: "content"}), false},
		"flip for certain":        {makerOf(t, mapper.ImageFlip{Items: []string{"image", "mask"}, Horizontal: 1}), true},
	} {
		out, err := mapped(t.Context(), t, c.m, nil, s)
		if err != nil {
			t.Fatal(err)
		}
		mask, _ := out.Field("mask")
		if own, _ := out.Field("image"); mask.Shared != c.want || own.Shared {
			t.Errorf("%s: the mask is shared: %v, the image: %v", name, mask.Shared, own.Shared)
		}
	}
}
