package flow_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/store"
)

const pinnedHashes = `
  in: {source: jsonl, with: {path: in.jsonl}}
  hashed: {map: hash, from: in, checkpoint: true, with: {items: [text], into: h}}
  mixed: {op: shuffle, from: hashed, checkpoint: true, with: {seed: 1}}
  few: {op: slice, from: mixed, with: {stop: 8}}
  out: {sink: jsonl, from: few, with: {path: out.jsonl, overwrite: replace}}
`

// allManifests returns all manifests with their keys.
func (l *lines) allManifests() (all []store.Manifest) {
	for m, err := range l.store.Manifests(context.Background()) {
		if err == nil {
			m, err = l.store.Manifest(context.Background(), m.Name)
		}
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// put stores a manifest.
func (l *lines) put(m store.Manifest) {
	if err := l.store.PutManifest(context.Background(), m); err != nil {
		l.t.Fatal(err)
	}
}

// pinned counts the keys of pinned manifests.
func (l *lines) pinned() (n int) {
	for _, m := range l.allManifests() {
		if m.Pinned {
			n += len(m.Keys)
		}
	}
	return n
}

// TestUnchangedCheckpointsAreLeft checks that a checkpoint that only up-to-date sinks read
// is not scanned while all its pins exist. Otherwise it is pinned again.
func TestUnchangedCheckpointsAreLeft(t *testing.T) {
	for name, touch := range map[string]func(l *lines){
		"a line of the input": func(l *lines) { l.edit("in.jsonl") },
		"a manifest": func(l *lines) {
			for _, m := range l.allManifests() {
				if err := l.store.DeleteManifest(context.Background(), m.Name); err != nil {
					l.t.Fatal(err)
				}
			}
		},
		"a part of a manifest": func(l *lines) {
			for _, m := range l.allManifests() {
				l.put(store.Manifest{Name: m.Name, Keys: m.Keys[:1], Note: m.Note[:1], Pinned: true})
			}
		},
		"the pins": func(l *lines) {
			for _, m := range l.allManifests() {
				m.Pinned = false
				l.put(m)
			}
		},
		"another flow": func(l *lines) { l.file = "other.yaml" },
		"the pins, by a run that discards them": func(l *lines) {
			l.runIn(flow.RunOptions{Larder: newLarder(l.t, l.store), Discard: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLines(t, pinnedHashes, 10)
			l.run()
			all := l.pinned()
			if all == 0 {
				t.Fatal("nothing is pinned")
			}
			second := l.run()
			if n := node(t, second, "hashed"); !n.Unchanged || n.FromStore != 10 || n.BytesRead != 0 {
				t.Errorf("the second run reads the checkpoint: %+v", n)
			}
			if n := node(t, second, "mixed"); !n.Unchanged || n.Samples != 10 || l.pinned() != all {
				t.Errorf("the second run reads the checkpoint of an operator: %+v, %d pinned", n, l.pinned())
			}
			touch(l)
			if n := node(t, l.run(), "hashed"); n.Unchanged {
				t.Error("the checkpoint was left as it is")
			}
			if now := l.pinned(); now < all {
				t.Errorf("%d keys are pinned, and were %d", now, all)
			}
			if n := node(t, l.run(), "hashed"); !n.Unchanged {
				t.Errorf("it is gone through once more: %+v", n)
			}
		})
	}
}

// TestCheckpointsThatAreReadAreMade checks a checkpoint with a sink that is written again.
func TestCheckpointsThatAreReadAreMade(t *testing.T) {
	l := newLines(t, pinnedHashes+"  too: {sink: jsonl, from: hashed, with: {path: too.jsonl, overwrite: replace}}\n", 10)
	l.run()
	if err := os.Remove(l.path("too.jsonl")); err != nil {
		t.Fatal(err)
	}
	r := l.run()
	if n := node(t, r, "hashed"); n.Unchanged || n.Computed != 0 {
		t.Errorf("%+v", n)
	}
	if strings.Count(l.read("too.jsonl"), "\n") != 10 {
		t.Error("the sink lacks samples")
	}
}
