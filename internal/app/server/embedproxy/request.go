package embedproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/larder-data/larder/key"
)

// maxInputs is the maximum number of inputs of a request, as for OpenAI.
const maxInputs = 2048

// A request is a parsed request of a client.
type request struct {
	model      string
	dimensions int // 0 if absent
	base64     bool
	inputs     []input
	members    map[string]json.RawMessage // all other members, sent on and part of keys
	user       json.RawMessage            // sent on, not part of keys
}

// An input is a string, or a list of token numbers.
type input struct {
	kind string // "text" or "tokens"
	text string // the text, or comma-separated numbers
}

const (
	textKind   = "text"
	tokensKind = "tokens"
)

// json returns the input as sent to the upstream.
func (i input) json() json.RawMessage {
	if i.kind == tokensKind {
		return json.RawMessage("[" + i.text + "]")
	}
	return plainJSON(i.text)
}

// size returns the approximate size in bytes.
func (i input) size() int { return len(i.text) + 2 }

// parseRequest parses the body of a request.
func parseRequest(body []byte) (*request, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("the body is not UTF-8")
	}
	if err := loneSurrogate(body); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return nil, errors.New("the body is not a JSON object with the members model and input")
	}
	q := &request{members: map[string]json.RawMessage{}}
	for name, raw := range members {
		if err := q.member(name, raw); err != nil {
			return nil, err
		}
	}
	switch {
	case q.model == "":
		return nil, errors.New("model: name one")
	case len(q.inputs) == 0:
		return nil, errors.New("input: give a string, a list of strings, a list of token numbers, or a list of such lists; at least one")
	case len(q.inputs) > maxInputs:
		return nil, fmt.Errorf("input: there are %d; a request may have %d", len(q.inputs), maxInputs)
	}
	return q, nil
}

// member parses one member of a request. null means absent.
func (q *request) member(name string, raw json.RawMessage) (err error) {
	if string(raw) == "null" {
		return nil
	}
	switch name {
	case "model":
		if json.Unmarshal(raw, &q.model) != nil {
			return errors.New("model: must be a string")
		}
	case "input":
		q.inputs, err = parseInputs(raw)
		return err
	case "encoding_format":
		var format string
		if json.Unmarshal(raw, &format) != nil || format != "float" && format != "base64" {
			return errors.New(`encoding_format: must be "float" or "base64"`)
		}
		q.base64 = format == "base64"
	case "user":
		q.user = raw
	case "dimensions":
		if json.Unmarshal(raw, &q.dimensions) != nil || q.dimensions < 1 {
			return errors.New("dimensions: must be an integer above 0")
		}
	default:
		q.members[name], err = canonical(raw)
	}
	return err
}

// parseInputs parses the member input in each of its forms.
func parseInputs(raw json.RawMessage) ([]input, error) {
	wrong := errors.New("input: must be a string, a list of strings, a list of token numbers, or a list of such lists")
	if raw[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, wrong
		}
		return []input{{textKind, text}}, nil
	}
	if raw[0] != '[' {
		return nil, wrong
	}
	switch first := bytes.TrimLeft(raw[1:], " \t\r\n"); first[0] {
	case ']':
		return nil, nil
	case '"':
		var texts []*string // nil for null
		if json.Unmarshal(raw, &texts) != nil || slices.Contains(texts, nil) {
			return nil, wrong
		}
		inputs := make([]input, len(texts))
		for i, text := range texts {
			inputs[i] = input{textKind, *text}
		}
		return inputs, nil
	case '[':
		var lists []tokens
		if json.Unmarshal(raw, &lists) != nil {
			return nil, wrong
		}
		inputs := make([]input, len(lists))
		for i, list := range lists {
			if len(list) == 0 {
				return nil, fmt.Errorf("input: list %d has no tokens", i)
			}
			inputs[i] = input{tokensKind, string(list)}
		}
		return inputs, nil
	default:
		var list tokens
		if json.Unmarshal(raw, &list) != nil {
			return nil, wrong
		}
		return []input{{tokensKind, string(list)}}, nil
	}
}

// tokens are the numbers of a list, comma-separated, in a canonical form.
type tokens string

// UnmarshalJSON parses a list of nonnegative integers.
func (t *tokens) UnmarshalJSON(raw []byte) error {
	if len(raw) < 2 || raw[0] != '[' {
		return errors.New("no list")
	}
	var out []byte
	for part := range bytes.SplitSeq(raw[1:len(raw)-1], []byte{','}) {
		part = bytes.TrimSpace(part)
		if len(part) == 0 && out == nil {
			continue // an empty list, because the text is JSON
		}
		n, err := strconv.ParseUint(string(part), 10, 63)
		if err != nil {
			return err
		}
		if out != nil {
			out = append(out, ',')
		}
		out = strconv.AppendUint(out, n, 10)
	}
	*t = tokens(out)
	return nil
}

// canonical returns the canonical form of a JSON value: members in order, numbers
// unchanged.
func canonical(raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("the body is nested too deeply")
	}
	return plainJSON(v), nil
}

// plainJSON returns JSON without HTML escapes.
func plainJSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a parsed JSON value can be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// loneSurrogate returns an error for half of a surrogate pair, because decoding
// replaces all of these by the same character.
func loneSurrogate(body []byte) error {
	unit := func(b []byte) (uint64, bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		return n, err == nil
	}
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		n, ok := unit(body[i:])
		switch {
		case !ok || n < 0xD800 || n > 0xDFFF:
			i++ // an escaped backslash does not begin an escape
		case n <= 0xDBFF:
			if low, ok := unit(body[i+6:]); ok && low >= 0xDC00 && low <= 0xDFFF {
				i += 11
				continue
			}
			fallthrough
		default:
			return fmt.Errorf("the body has a lone surrogate (%s) at byte %d, which is not valid in UTF-8", body[i:i+6], i)
		}
	}
	return nil
}

// op returns the operation on the inputs: all that could change a vector. The
// values of unknown members may be secret, so it contains only their digests.
func (q *request) op(o *Options) (*key.Op, error) {
	params := []key.Param{{Name: "upstream", Value: o.Identity}, {Name: "model", Value: q.model}}
	if q.dimensions > 0 {
		params = append(params, key.Param{Name: "dimensions", Value: q.dimensions})
	}
	if o.Floats {
		params = append(params, key.Param{Name: "floats", Value: true})
	}
	for _, name := range slices.Sorted(maps.Keys(q.members)) {
		params = append(params, key.Param{Name: "member " + name, Value: key.DigestOf(q.members[name]).String()})
	}
	return key.NewOp("embedding", key.Version("1"), params...)
}

// body returns the request to the upstream for some of the inputs.
func (q *request) body(inputs []input, base64 bool) []byte {
	members := maps.Clone(q.members)
	raw := make([]json.RawMessage, len(inputs))
	for i, in := range inputs {
		raw[i] = in.json()
	}
	members["model"], members["input"], members["encoding_format"] = plainJSON(q.model), plainJSON(raw), json.RawMessage(`"float"`)
	if base64 {
		members["encoding_format"] = json.RawMessage(`"base64"`)
	}
	if q.dimensions > 0 {
		members["dimensions"] = plainJSON(q.dimensions)
	}
	if q.user != nil {
		members["user"] = q.user
	}
	return plainJSON(members)
}
