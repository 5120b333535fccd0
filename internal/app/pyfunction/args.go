package pyfunction

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
)

// plainArgs are arguments as JSON has them, with the order of mappings.
func plainArgs(args map[string]any) map[string]any {
	plain := map[string]any{}
	for name, v := range args {
		plain[name] = plainArg(v)
	}
	return plain
}

func plainArg(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i, e := range v {
			all[i] = plainArg(e)
		}
		return all
	case []component.Entry:
		return entries(v)
	case float64:
		return floating(v)
	}
	return v
}

// A floating is a number that Python is to have as a float, also where it is whole.
type floating float64

// MarshalJSON implements json.Marshaler.
func (n floating) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.Abs(f) >= 1<<63 && f == math.Trunc(f) { // it may have been written with more digits
		return nil, fmt.Errorf("%v has more than 64 bits; give it as a string, and have the function make a number of it", f)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is not a number that can be given", f)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return []byte(text), nil
}

// entries is a mapping that is written as JSON in its order.
type entries []component.Entry

// MarshalJSON implements json.Marshaler.
func (e entries) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, one := range e {
		if i > 0 {
			b = append(b, ',')
		}
		k, err := json.Marshal(one.Key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(plainArg(one.Value))
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, k...), ':'), v...)
	}
	return append(b, '}'), nil
}
