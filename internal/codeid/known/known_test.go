package known_test

import (
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/store/memory"
)

// TestFunctionsThatABuildKnows checks that functions identified by the build are distinguished by the names that other
// functions get, too.
func TestFunctionsThatABuildKnows(t *testing.T) {
	seen := map[string]bool{}
	for _, given := range [][]any{nil, {strings.ToUpper}, {strings.ToLower}, {strings.ToUpper, strings.ToLower}, {strings.ToLower, strings.ToUpper}} {
		id, err := known.CodeOf(t.Context(), nil, known.Component{Functions: []any{strings.Title}, Given: given}) //nolint:staticcheck // any function
		if err != nil || seen[id.Function+id.Code.ID] {
			t.Errorf("%d given: %+v, %v", len(given), id, err)
		}
		seen[id.Function+id.Code.ID] = true
	}
	if id, err := known.CodeOf(t.Context(), nil, known.Component{Functions: []any{strings.ToUpper}, Given: []any{strings.NewReplacer("a", "b").Replace}}); err == nil {
		t.Errorf("a method with the value that it is called on is identified by %+v", id)
	}
}

// TestDryIdentifiesOnce checks that code is identified once for all requests of a dry run.
func TestDryIdentifiesOnce(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	ctx := larder.CachedOnly(t.Context())
	ask := func() { _, _ = known.CodeOf(ctx, l, known.Component{Functions: []any{codec.All}}) } // a refusal is an answer, too
	if n := testing.AllocsPerRun(3, ask); n > 500 {
		t.Errorf("the same question again takes %.0f allocations", n)
	}
}
