package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxDepth bounds the nesting of values that are converted from or to strings.
const maxDepth = 10000

// asText returns the result of string(...): a string unchanged, times and durations in
// the syntax of date and duration, and others as JSON.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time, time.Duration, *time.Location:
		return momentText(v)
	}
	return string(appendJSON(nil, v, 0))
}

func momentText(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case time.Duration:
		return v.String()
	}
	return v.(*time.Location).String()
}

func indented(v any) string {
	if f := notFinite(v); f != nil {
		fail("toJSON is not defined for %s; handle the case, such as y == 0 ? nil : x / y", shownFloat(*f))
	}
	var b bytes.Buffer
	if err := json.Indent(&b, appendJSON(nil, v, 0), "", "  "); err != nil {
		fail("toJSON is not defined for this value")
	}
	return b.String()
}

// notFinite returns a number in a value that JSON cannot represent.
func notFinite(v any) *float64 {
	switch v := plain(v).(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &v
		}
	case []any:
		for _, e := range v {
			if f := notFinite(e); f != nil {
				return f
			}
		}
	case map[string]any:
		for _, e := range v {
			if f := notFinite(e); f != nil {
				return f
			}
		}
	case map[any]any:
		for _, e := range v {
			if f := notFinite(e); f != nil {
				return f
			}
		}
	}
	return nil
}

// appendJSON appends a value as in JSON items: names in order, floats with a fraction
// or an exponent.
func appendJSON(b []byte, v any, depth int) []byte {
	if depth > maxDepth {
		fail("the value is nested deeper than %d", maxDepth)
	}
	switch v := plain(v).(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case *big.Int:
		return v.Append(b, 10)
	case float64:
		return appendFloat(b, v)
	case string:
		return appendText(b, v)
	case time.Time, time.Duration, *time.Location:
		return appendText(b, momentText(v))
	default:
		switch kindOf(v) {
		case listKind:
			return appendList(b, v, depth)
		case mappingKind:
			return appendMapping(b, v, depth)
		}
		panic(faultf("%s has no string form", kindName(v)))
	}
}

func appendList(b []byte, v any, depth int) []byte {
	free := meter{left: math.MaxInt64}
	b = append(b, '[')
	for i, e := range free.elements(v) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, e, depth+1)
	}
	return append(b, ']')
}

func appendMapping(b []byte, v any, depth int) []byte {
	free := meter{left: math.MaxInt64}
	entries := free.entries(v)
	names := make([]any, 0, len(entries))
	for k := range entries {
		names = append(names, k)
	}
	slices.SortFunc(names, compareKeys)
	b = append(b, '{')
	for i, k := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, asText(k)), ':')
		b = appendJSON(b, entries[k], depth+1)
	}
	return append(b, '}')
}

// appendFloat appends a float as in JSON items: 2.0, not 2.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	case f == math.Trunc(f) && math.Abs(f) < 1e21:
		return strconv.AppendFloat(b, f, 'f', 1, 64)
	}
	text, err := json.Marshal(f)
	if err != nil {
		panic(faultf("a number has no string form"))
	}
	return append(b, text...)
}

func appendText(b []byte, s string) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(faultf("a string is not a JSON string"))
	}
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte{'\n'})...)
}

// readJSON parses a JSON string like an item: integers stay exact, and a duplicate name
// in a mapping is an error.
func (m *meter) readJSON(s string) any {
	if hasHalf(s) {
		fail("the JSON has a lone surrogate, which is not valid text")
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	v, err := m.readValue(d, 0)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = fmt.Errorf("data after the value")
		}
	}
	if f, ok := errors.AsType[*fault](err); ok {
		panic(f)
	}
	if err != nil {
		fail("%q is not JSON", short(s))
	}
	return v
}

// hasHalf reports whether JSON contains an escape of half a surrogate pair.
func hasHalf(s string) bool {
	low := false // a low surrogate must follow
	for {
		at := strings.IndexByte(s, '\\')
		if at < 0 || at+1 >= len(s) {
			return low
		}
		var half rune
		if s[at+1] == 'u' && at+6 <= len(s) {
			if n, err := strconv.ParseUint(s[at+2:at+6], 16, 16); err == nil {
				half = rune(n)
			}
		}
		isLow := half >= 0xdc00 && half < 0xe000
		if isLow != low || low && at > 0 {
			return true
		}
		low = half >= 0xd800 && half < 0xdc00
		s = s[at+2:]
		if half != 0 {
			s = s[4:]
		}
	}
}

func (m *meter) readValue(d *json.Decoder, depth int) (any, error) {
	m.charge(each)
	if depth > maxDepth {
		return nil, faultf("the JSON is nested deeper than %d", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return readNumber(t.String())
	case json.Delim:
		if t == '[' {
			return m.readList(d, depth)
		}
		if t == '{' {
			return m.readMapping(d, depth)
		}
		return nil, fmt.Errorf("unexpected %v, expected a value", t)
	}
	return t, nil
}

func readNumber(s string) (any, error) {
	if !strings.ContainsAny(s, ".eE") {
		const most = 10000 // digits, because conversion of many is slow
		i, ok := new(big.Int).SetString(s[:min(len(s), most)], 10)
		if !ok || len(s) > most {
			return nil, faultf("%s exceeds the range of numbers", short(s))
		}
		return plain(i), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, faultf("%s exceeds the range of numbers", short(s))
	}
	return f, nil
}

func (m *meter) readList(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := m.readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func (m *meter) readMapping(d *json.Decoder, depth int) (any, error) {
	doc := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if _, twice := doc[name]; twice || !ok {
			return nil, faultf("the JSON has the key %q twice", short(name))
		}
		if doc[name], err = m.readValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return doc, err
}
