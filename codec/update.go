package codec

import (
	"math"
	"math/big"
	"slices"
)

// sameScalar reports whether two values without parts have the same type and are equal. NaN
// equals NaN, but 0 does not equal -0.
func sameScalar(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || a != a && b != b)
	case *big.Int:
		b, ok := b.(*big.Int)
		return ok && b != nil && a.Cmp(b) == 0
	case []byte:
		b, ok := b.([]byte)
		return ok && slices.Equal(a, b)
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case int64:
		b, ok := b.(int64)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	}
	return false
}

// sameDocument reports whether two values of documents are the same.
func sameDocument(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !sameDocument(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && (a == nil) == (b == nil) && slices.EqualFunc(a, b, sameDocument)
	}
	return sameScalar(a, b)
}
