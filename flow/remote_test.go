package flow_test

import (
	"fmt"
	"testing"

	"github.com/larder-data/larder/flow"
	_ "github.com/larder-data/larder/format/text"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/pool"
)

// TestLooksAtURLs checks that files at URLs are identified by URL without credentials.
// Their changes are unknown, so an earlier look never represents the present file.
func TestLooksAtURLs(t *testing.T) {
	look := func(path string) *flow.Snapshot {
		t.Helper()
		f, err := flow.Parse("flow.yaml", []byte(fmt.Sprintf("version: 1\nnodes:\n  in: {source: text, with: {path: %q}}\n", path)), nil)
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Snapshot(t.Context(), flow.RunOptions{Only: []string{"in"}, Pool: pool.New(1)})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	one := look("https://host/a.txt")
	if other := look("https://host/b.txt"); other.Identity == one.Identity {
		t.Error("two files have one identity")
	}
	again := look("https://me:pw@host/a.txt?token=pw")
	if again.Identity != one.Identity {
		t.Error("the user is part of the identity")
	}
	if same := look("https://host/a.txt"); same.Same(t.Context(), one) {
		t.Error("a file at a URL is treated as unchanged")
	}
}
