// Package lazytest provides golden tests of lazy values.
//
// A [Golden] has the key of a value and the digest of its encoded result at the time
// when the test was written. [Check] evaluates the value twice, each time with an empty
// cache in memory, so cached results cannot hide a difference. It fails the test in
// three cases. If the two results differ, the value is random or depends on something
// that its key does not cover. The result may differ from the expected one. If the key
// differs, an input of the value or the format of keys changed. A key that changes with
// each build is not compared.
//
// `larder verify --generate DIRECTORY` writes such a test for the variables of a package.
// It uses [Print] to read them. After a failure the test and later tests continue.
package lazytest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
	"github.com/larder-data/larder/store/memory"
)

// A Golden is the expected state of a value.
type Golden struct {
	Key    string // empty if it changes with the build
	Result string // digest of the encoded value
}

// Check fails the test if two evaluations of v differ, or differ from the expected
// state. It uses no cached results.
func Check(t testing.TB, name string, v lazy.Node, want Golden) {
	t.Helper()
	got, err := inspect(t.Context(), v)
	switch {
	case err != nil:
		t.Errorf("%s: %v", name, err)
	case got.Result != want.Result:
		t.Errorf("%s: result %s, pinned as %s; pin it again if the change is intended", name, got.Result, want.Result)
	case want.Key != "" && got.Key != want.Key:
		t.Errorf("%s: key %s, pinned as %s; its inputs or the computation of keys changed", name, got.Key, want.Key)
	}
}

// inspect evaluates a value twice without cached results.
func inspect(ctx context.Context, v lazy.Node) (Golden, error) {
	var before Golden
	for i := range 2 {
		l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
		if err != nil {
			return before, err
		}
		in, err := lazy.Inspect(ctx, l, v)
		if err != nil {
			return before, err
		}
		got := Golden{Result: in.Result.String()}
		if in.Versioned && !in.Key.IsZero() {
			got.Key = in.Key.String()
		}
		if i > 0 && got != before {
			return got, fmt.Errorf("it is not reproducible: computed twice it was %s and %s", before.Result, got.Result)
		}
		before = got
	}
	return before, nil
}

// Print prints, for the tool that writes tests, the state of those variables, by name,
// that are lazy values.
func Print(t testing.TB, variables map[string]any) {
	t.Helper()
	for name, v := range variables {
		n, ok := v.(lazy.Node)
		if !ok {
			continue
		}
		p, err := inspect(t.Context(), n)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		line, err := json.Marshal(map[string]Golden{name: p})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(t.Output(), "%s%s\n", Mark, line)
	}
}

// Mark is the prefix of the lines that Print prints.
const Mark = "larder pin: "
