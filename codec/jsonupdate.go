package codec

import (
	"bytes"
	"maps"
	"slices"
)

// updateJSON writes v over a document: see [Codec.Update].
func updateJSON(old []byte, v any) ([]byte, error) {
	_, span, err := parseJSON(old, true)
	if err != nil {
		return nil, err
	}
	w := &jsonUpdate{old: old}
	w.copyTo(span.from)
	if err := w.value(span, v, 0); err != nil {
		return nil, err
	}
	w.copyTo(len(old))
	return w.out, nil
}

// A jsonUpdate writes a document and copies unchanged parts of another one.
type jsonUpdate struct {
	old []byte
	at  int // old is copied or replaced up to here
	out []byte
}

func (w *jsonUpdate) copyTo(end int) {
	w.out = append(w.out, w.old[w.at:end]...)
	w.at = end
}

// value writes v in place of the next span.
func (w *jsonUpdate) value(s jsonSpan, v any, depth int) error {
	switch v := v.(type) {
	case map[string]any:
		if s.open == '{' && v != nil && len(s.parts) > 0 && hasAll(v, s.parts) {
			return w.object(s, v, depth)
		}
	case []any:
		if s.open == '[' && len(s.parts) > 0 && len(v) >= len(s.parts) {
			return w.list(s, v, depth)
		}
	default:
		if s.open == 0 && sameScalar(s.scalar, v) {
			w.copyTo(s.to)
			return nil
		}
	}
	return w.rewritten(s, v)
}

// rewritten writes v from scratch, unless it is the same and has no parts.
func (w *jsonUpdate) rewritten(s jsonSpan, v any) error {
	if len(s.parts) == 0 && emptyAs(s.open, v) {
		w.copyTo(s.to)
		return nil
	}
	b, err := encodeJSON(v)
	w.out, w.at = append(w.out, b...), s.to
	return err
}

// emptyAs reports whether v is the empty value of a pair of brackets.
func emptyAs(open byte, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return open == '{' && v != nil && len(v) == 0
	case []any:
		return open == '[' && v != nil && len(v) == 0
	}
	return false
}

func hasAll(m map[string]any, parts []jsonPart) bool {
	for _, p := range parts {
		if _, ok := m[p.name]; !ok {
			return false
		}
	}
	return true
}

func (w *jsonUpdate) object(s jsonSpan, v map[string]any, depth int) error {
	there := make(map[string]bool, len(s.parts))
	for _, p := range s.parts {
		there[p.name] = true
		w.copyTo(p.value.from)
		if err := w.value(p.value, v[p.name], depth+1); err != nil {
			return err
		}
	}
	first := s.parts[0]
	colon := w.old[first.to:first.value.from]
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if there[k] {
			continue
		}
		name, err := encodeJSON(k)
		if err != nil {
			return err
		}
		text, err := encodeJSON(v[k])
		if err != nil {
			return err
		}
		w.out = append(append(w.out, ','), w.gap(s)...)
		w.out = append(append(append(w.out, name...), colon...), text...)
	}
	w.copyTo(s.to)
	return nil
}

func (w *jsonUpdate) list(s jsonSpan, v []any, depth int) error {
	for i, p := range s.parts {
		w.copyTo(p.value.from)
		if err := w.value(p.value, v[i], depth+1); err != nil {
			return err
		}
	}
	for _, e := range v[len(s.parts):] {
		text, err := encodeJSON(e)
		if err != nil {
			return err
		}
		w.out = append(append(append(w.out, ','), w.gap(s)...), text...)
	}
	w.copyTo(s.to)
	return nil
}

// gap returns the document's white space between a comma and a part.
func (w *jsonUpdate) gap(s jsonSpan) []byte {
	if len(s.parts) > 1 {
		between := w.old[s.parts[0].value.to:s.parts[1].from]
		_, after, _ := bytes.Cut(between, []byte{','})
		return after
	}
	if lead := w.old[s.from+1 : s.parts[0].from]; bytes.ContainsRune(lead, '\n') {
		return lead
	}
	if first := s.parts[0]; bytes.ContainsRune(w.old[first.to:first.value.from], ' ') {
		return []byte{' '}
	}
	return nil
}
