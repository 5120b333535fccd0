package expr

import (
	"fmt"
	"math"
	"math/big"
)

// Document returns a copy of an expression's result in the types that documents decode
// to: nil, bool, int64, *big.Int, float64, string, []any and map[string]any. Any other
// type is an error, and so is an infinite number or NaN, which JSON cannot represent.
//
// It lists the result types of all functions explicitly, because code analysis cannot
// follow references through reflection.
func Document(v any) (any, error) {
	switch v := plain(v).(type) {
	case nil:
		return nil, nil
	case bool:
		return v, nil
	case int:
		return int64(v), nil
	case *big.Int:
		return new(big.Int).Set(v), nil
	case string:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the value is %s, which documents cannot store; handle the case, such as y == 0 ? nil : x / y", shownFloat(v))
		}
		return v, nil
	case []any:
		return documents(v)
	case []int:
		return documents(v)
	case map[string]any:
		return object(v)
	case map[any]any:
		return object(v)
	}
	return nil, fmt.Errorf("the value is %s, not a document; return a string, a number, a boolean, nil, a list or a map", kindName(v))
}

func documents[T any](from []T) (any, error) {
	out := make([]any, len(from))
	for i, e := range from {
		var err error
		if out[i], err = Document(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func object[K comparable](from map[K]any) (any, error) {
	out := make(map[string]any, len(from))
	for k, e := range from {
		name, ok := any(k).(string)
		if !ok {
			return nil, fmt.Errorf("the mapping has the key %s, but keys of documents are strings; write string(...)", Shown(k))
		}
		v, err := Document(e)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// shownFloat returns an infinite number or NaN for a message.
func shownFloat(v float64) string {
	switch {
	case math.IsNaN(v):
		return "no number"
	case v < 0:
		return "-infinite"
	}
	return "infinite"
}
