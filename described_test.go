package larder_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// TestDescriptions checks that the results of an operation share one description, that a
// lost one costs explanations only, and that it is stored again.
func TestDescriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{})
		l, err := larder.Open(larder.Options{Store: s, MemoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		op, err := key.NewOp("f", key.Version("1"), key.Param{Name: "times", Value: 3})
		if err != nil {
			t.Fatal(err)
		}
		of := func(content string) *key.Action {
			return op.Action(key.Input{Name: "text", Kind: "txt", Ref: key.Content(key.DigestOf([]byte(content)))})
		}
		do := func(a *key.Action) {
			t.Helper()
			if v, err := larder.Do(t.Context(), l, a, func(context.Context) (int, error) { return 7, nil }); err != nil || v != 7 {
				t.Fatal(v, err)
			}
		}
		explained := func(a *key.Action) bool {
			t.Helper()
			reader := records.ProvenanceReader{Store: l.Store()}
			parts, err := reader.Parts(t.Context(), a.Key())
			if err == nil && !slices.Equal(parts, a.Parts()) {
				t.Errorf("the parts are %v, want %v", parts, a.Parts())
			}
			return err == nil
		}
		do(of("a"))
		do(of("b"))
		if u, err := s.Usage(t.Context()); err != nil || u.Records != 3 {
			t.Errorf("%+v, %v, want two results and a description", u, err)
		}
		if !explained(of("a")) || !explained(of("b")) {
			t.Error("no explanation")
		}
		if err := s.Delete(t.Context(), of("a").Description().Key); err != nil {
			t.Fatal(err)
		}
		if explained(of("a")) {
			t.Error("an explanation without the description")
		}
		do(of("a"))
		<-time.After(2 * time.Second)
		do(of("c"))
		if !explained(of("a")) || !explained(of("c")) {
			t.Error("no explanation after the description was stored again")
		}
	})
}
