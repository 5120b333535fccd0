package expr

import (
	"fmt"
	"math"
	"testing"
)

// TestMappingsAreInOrder checks that a value computed from a whole mapping is the same each
// time.
func TestMappingsAreInOrder(t *testing.T) {
	many := map[string]any{}
	for i := range 20 {
		many[fmt.Sprintf("k%02d", i)] = i
	}
	mixed := map[any][]any{"b": nil, "a": nil, 2: nil, int64(-1): nil, 1.5: nil, true: nil, nil: nil, math.MaxInt64: nil}
	for range 20 {
		for call, c := range map[string]struct {
			of   any
			want string
		}{
			"keys":    {many, "[k00 k01 k02 k03 k04 k05 k06 k07 k08 k09 k10 k11 k12 k13 k14 k15 k16 k17 k18 k19]"},
			"values":  {many, "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]"},
			"toPairs": {map[string]any{"b": 1, "a": 2, "c": nil}, "[[a 2] [b 1] [c <nil>]]"},
		} {
			if got, ok := ordered(call, []any{c.of}); !ok || fmt.Sprint(got) != c.want {
				t.Fatalf("%s: %v", call, got)
			}
		}
		if got, ok := ordered("keys", []any{mixed}); !ok || fmt.Sprint(got) != fmt.Sprintf("[<nil> true -1 1.5 2 %d a b]", math.MaxInt64) {
			t.Fatalf("keys: %v", got)
		}
	}
	for _, args := range [][]any{nil, {nil}, {[]any{1}}, {"text"}, {many, many}} {
		if _, ok := ordered("keys", args); ok {
			t.Errorf("%v has keys", args)
		}
	}
}
