package flow_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// shelf stores checkpoints as bytes in memory.
type shelf struct {
	cached map[string]shelved
	fail   error
}

type shelved struct {
	fingerprint key.Digest
	samples     []dataset.Sample
}

func (s *shelf) Keep(ctx context.Context, c flow.Checkpoint) (component.Samples, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	fingerprint, err := c.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(c.Flow) + "/" + c.Node
	if s.cached[name].fingerprint != fingerprint {
		samples := make([]dataset.Sample, c.Data.Len())
		err := c.Pool.Each(ctx, c.Data.Len(), func(ctx context.Context, i int) error {
			in, err := c.Data.At(ctx, i)
			if err != nil {
				return err
			}
			for f := range in.Fields() {
				ext, err := f.Item.Ext(ctx)
				if err != nil {
					return err
				}
				b, err := f.Item.Bytes(ctx)
				if err != nil {
					return err
				}
				samples[i] = samples[i].With(dataset.Field{Key: f.Key, Item: dataset.NewBytes(ext, b), Shared: f.Shared})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		s.cached[name] = shelved{fingerprint, samples}
	}
	return dataset.List(s.cached[name].samples...), nil
}

func (s *shelf) Discard(_ context.Context, file, node string) error {
	delete(s.cached, filepath.Base(file)+"/"+node)
	return nil
}

const restedTwice = `  rested: {map: rest, from: letters, checkpoint: true}
  many: {op: repeat, from: rested, with: {times: 3}}
  out: {sink: underfolder, from: many, with: {path: out, overwrite: replace}}
`

func TestCheckpointsElsewhere(t *testing.T) {
	f, s := letters(t, restedTwice), &shelf{cached: map[string]shelved{}}
	run := func(o flow.RunOptions, want int64) {
		t.Helper()
		o.Checkpoints = s
		r, err := f.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if n := node(t, r, "rested"); n.Computed != want {
			t.Errorf("%d computed, want %d", n.Computed, want)
		}
	}
	run(flow.RunOptions{}, 26) // no cache is needed
	if len(s.cached["flow.yaml/rested"].samples) != 26 {
		t.Fatalf("cached: %v", s.cached)
	}
	run(flow.RunOptions{Discard: true}, 0)
	if len(s.cached) != 0 {
		t.Errorf("%d checkpoints are there after they were discarded", len(s.cached))
	}
	run(flow.RunOptions{}, 26)
}

func TestCheckpointsElsewhereFail(t *testing.T) {
	f := letters(t, restedTwice)
	_, err := f.Run(t.Context(), flow.RunOptions{Checkpoints: &shelf{fail: errors.New("disk full")}})
	if err == nil || !strings.Contains(err.Error(), "node rested: checkpoint: disk full") {
		t.Errorf("error %v; want one that names the node", err)
	}
}

// TestDiscard checks that a discarded checkpoint is no longer pinned.
func TestDiscard(t *testing.T) {
	f, s := letters(t, restedTwice), memory.New(memory.Options{})
	pinned := func() (n int) {
		for m, err := range s.Manifests(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if m.Pinned {
				n++
			}
		}
		return n
	}
	l := newLarder(t, s)
	for _, c := range []struct {
		discard bool
		want    int
	}{{false, 1}, {true, 0}} {
		if _, err := f.Run(t.Context(), flow.RunOptions{Larder: l, Discard: c.discard}); err != nil {
			t.Fatal(err)
		}
		if n := pinned(); n != c.want {
			t.Errorf("discard %v: %d pinned, want %d", c.discard, n, c.want)
		}
	}
}
