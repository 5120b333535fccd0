package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// jsonCodec reads JSON as nil, bool, int64, *big.Int, float64, string, []any and
// map[string]any. A number without fraction and exponent is an int64, or a *big.Int if it
// is too large; others are float64. An integral float64 is written as 1.0, so both keep
// their type. NaN, Infinity and -Infinity, which Python writes, are read as such. Duplicate
// keys and lone surrogates are errors.
//
// It writes such values with sorted keys. Strings that are not UTF-8, NaN and infinities
// are errors, and so are arrays, images and tables. encoding/json writes all other values.
var jsonCodec = Codec{
	Name:       "json",
	Extensions: []string{"json"},
	Lossless:   true,
	Decode:     decodeJSON,
	Check:      checkWhole(decodeJSON),
	Into:       jsonInto,
	Encode:     encodeJSON,
	Update:     updateJSON,
}

func decodeJSON(b []byte) (any, error) {
	v, _, err := parseJSON(b, false)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func jsonInto(b []byte, ptr any) error {
	if err := validText("json", b); err != nil {
		return err
	}
	if err := json.Unmarshal(b, ptr); err != nil {
		return jsonError(b, err)
	}
	return nil
}

// jsonError adds the line to an error of encoding/json.
func jsonError(b []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("json: line %d: %w", lineAt(b, syntax.Offset), err)
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("json: line %d: %w", lineAt(b, typed.Offset), err)
	}
	return fmt.Errorf("json: %w", err)
}

// placeAt returns the line and the column of an offset, from 1.
func placeAt(b []byte, at int) (line, column int) {
	before := b[:min(at, len(b))]
	return lineAt(b, int64(at)), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// lineAt returns the line of an offset, from 1.
func lineAt(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(max(offset, 0), int64(len(b)))], []byte{'\n'})
}

func encodeJSON(v any) ([]byte, error) {
	if b, ok := encodePlain(v); ok {
		return b, nil
	}
	v, err := jsonReady(v, 0)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("json: %w", err)
	}
	if halfText(buf.Bytes()) {
		return nil, fmt.Errorf("json: a string in the %T is not UTF-8; bytes can be written as base64 from a []byte", v)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// encodePlain writes the most common items of tables, with the same result as encodeJSON.
func encodePlain(v any) (b []byte, ok bool) {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(nil, v), true
	case int64:
		return strconv.AppendInt(nil, v, 10), true
	case string:
		for i := range len(v) {
			if c := v[i]; c < ' ' || c >= utf8.RuneSelf-1 || c == '"' || c == '\\' {
				return nil, false
			}
		}
		b = make([]byte, 0, len(v)+2)
		return append(append(append(b, '"'), v...), '"'), true
	}
	return nil, false
}

// maxDepth bounds the nesting of documents, as encoding/json does for those it reads.
const maxDepth = 10000

// jsonReady prepares or refuses parts of v that encoding/json would change silently:
// integral floats get their fraction, strings must be UTF-8.
func jsonReady(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("json: nested deeper than %d, or contains itself", maxDepth)
	}
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("json: %v is not a JSON number; write null, a string or YAML", v)
		}
		if v == math.Trunc(v) && math.Abs(v) < 1e21 {
			return json.Number(strconv.FormatFloat(v, 'f', 1, 64)), nil
		}
	case string:
		return v, validJSONText(v)
	case []any:
		if v == nil {
			return nil, nil
		}
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = jsonReady(e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		if v == nil {
			return nil, nil
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			if err := validJSONText(k); err != nil {
				return nil, err
			}
			var err error
			if out[k], err = jsonReady(e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, noDocument("json", v)
}

// halfText reports whether encoding/json has replaced invalid UTF-8 by an escaped U+FFFD.
// It does not escape a real U+FFFD.
func halfText(b []byte) bool {
	const escape = `\ufffd`
	for at := 0; ; at += len(escape) {
		i := bytes.Index(b[at:], []byte(escape))
		if i < 0 {
			return false
		}
		at += i
		if before := b[:at]; (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 {
			return true
		}
	}
}

func validJSONText(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return fmt.Errorf("json: %q is not UTF-8 text; bytes can be written as base64 from a []byte", s)
}
