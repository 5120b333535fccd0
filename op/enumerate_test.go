package op_test

import (
	"strings"
	"testing"

	"github.com/larder-data/larder/op"
)

func TestEnumerate(t *testing.T) {
	for _, c := range []struct {
		params op.Enumerate
		item   string
		want   any
		bytes  string
	}{
		{op.Enumerate{}, "index", int64(2), "2"},
		{op.Enumerate{Start: -5, Into: "number", Format: "yaml"}, "number", int64(-3), "-3"},
		{op.Enumerate{Start: 100, Into: "number", Format: "txt"}, "number", "102", "102"},
	} {
		ds := apply(t, "enumerate", c.params, numbers(3)).Parts[0]
		s, err := ds.At(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Value(t.Context(), c.item)
		if err != nil || v != c.want {
			t.Errorf("%+v: %v, %v, want %v", c.params, v, err, c.want)
		}
		it, _ := s.Item(c.item)
		if b, err := it.Bytes(t.Context()); err != nil || strings.TrimSpace(string(b)) != c.bytes {
			t.Errorf("%+v: stored as %q, %v", c.params, b, err)
		}
	}
	twice := apply(t, "enumerate", op.Enumerate{}, apply(t, "enumerate", op.Enumerate{}, numbers(3)).Parts[0]).Parts[0]
	if _, err := twice.At(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "node n: sample 1: item index exists") {
		t.Errorf("the error is %v", err)
	}
}
