package expr

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/expr-lang/expr/vm/runtime"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

func short(text string) string { return display.Short(text) }

func (m *meter) elements(list any) []any {
	if l, ok := list.([]any); ok {
		return l
	}
	r := reflect.ValueOf(list)
	m.charge(each * int64(r.Len()))
	all := make([]any, r.Len())
	for i := range all {
		all[i] = plain(r.Index(i).Interface())
	}
	return all
}

func (m *meter) entries(mapping any) map[any]any {
	if all, ok := mapping.(map[any]any); ok {
		return all
	}
	all := map[any]any{}
	for r := reflect.ValueOf(mapping).MapRange(); r.Next(); {
		m.charge(each)
		all[plain(r.Key().Interface())] = plain(r.Value().Interface())
	}
	return all
}

// lookup returns the value of a name in a mapping.
func (m *meter) lookup(mapping, name any) (v any, ok bool) {
	if doc, is := mapping.(map[string]any); is {
		s, is := name.(string)
		if !is {
			fail("%s", wrongName(kindName(name)))
		}
		v, ok = doc[s]
		return v, ok
	}
	if !isName(name) {
		fail("%s", wrongName(kindName(name)))
	}
	v, ok = m.entries(mapping)[name]
	return v, ok
}

// isName reports whether a value can be a name in mappings, including those from
// groupBy.
func isName(v any) bool {
	return kindOf(v)&(textKind|numberKind|truthKind|nullKind) != 0 && !isNaN(v)
}

func wrongName(kind string) string {
	return "mapping keys are strings, not " + kind
}

// member returns a required member of a value; path is the value's source.
func member(of any, name, path string) any {
	doc, ok := of.(map[string]any)
	if !ok {
		return mayMember(must(of, name, path), name, path)
	}
	v, ok := doc[name]
	if !ok {
		missing(doc, name, path)
	}
	return v
}

// must refuses null, which has no members.
func must(of any, name, path string) any {
	if of == nil {
		fail("%s", noMember(path, "null", name))
	}
	if all, ok := of.(map[any]any); ok {
		if _, ok := all[name]; !ok {
			named := map[string]any{}
			for k := range all {
				if s, ok := k.(string); ok {
					named[s] = nil
				}
			}
			missing(named, name, path)
		}
	}
	return of
}

// missing fails because a document has no member with a name.
func missing(doc map[string]any, name, path string) {
	names := slices.Sorted(maps.Keys(doc))
	fail("%s has no %q%s (if it may be missing, use has(...), ?? or ?.)", path, name, component.Suggest(name, names[:min(len(names), 50)]))
}

// mayMember returns an optional member of a value.
func mayMember(of any, name, path string) any {
	switch doc := of.(type) {
	case nil:
		return nil
	case map[string]any:
		return doc[name]
	case map[any]any:
		return doc[name]
	}
	if k := kindOf(of); k&(mappingKind|otherKind) == 0 {
		fail("%s", noMember(path, kindName(of), name))
	}
	v, ok := field(of, name)
	if !ok {
		fail("%s", noMember(path, kindName(of), name))
	}
	return v
}

// field returns a field of a value of a program's type, such as the Rect of an image;
// methods do not count.
func field(of any, name string) (v any, ok bool) {
	defer func() {
		if recover() != nil {
			v, ok = nil, false
		}
	}()
	v = plain(runtime.Fetch(of, name))
	return v, v == nil || reflect.ValueOf(v).Kind() != reflect.Func
}

func noMember(path, kind, name string) string {
	switch kind {
	case "null":
		return fmt.Sprintf("%s is null and has no %q (if it may be missing, use has(...), ?? or ?.)", path, name)
	case listKind.String():
		return fmt.Sprintf("%s is a list and has no %q; index it, as in list[0]", path, name)
	}
	return fmt.Sprintf("%s is %s and has no %q", path, kind, name)
}

// element returns an element of a list, a character of a string or a member of a
// mapping.
func (m *meter) element(of, index any, path string, may bool) any {
	if of == nil && may {
		return nil
	}
	if name, ok := index.(string); ok && may {
		return mayMember(of, name, path)
	} else if ok {
		return member(of, name, path)
	}
	k := kindOf(of)
	if i := kindOf(index); wrongIndex(k, i, "", "") != "" {
		fail("%s", wrongIndex(k, i, kindName(of), kindName(index)))
	}
	switch k {
	case mappingKind:
		v, ok := m.lookup(of, index)
		if !ok && !may {
			fail("%s has no %s (if it may be missing, use has(...), ?? or ?.)", path, Shown(index))
		}
		return v
	case textKind:
		return m.character(of.(string), wholeOf(index), may)
	}
	n := length(of)
	i, ok := indexOf(wholeOf(index), n)
	if !ok {
		if may {
			return nil
		}
		fail("index %d is out of range for a list of %d", wholeOf(index), n)
	}
	if l, ok := of.([]any); ok {
		return l[i]
	}
	return plain(reflect.ValueOf(of).Index(i).Interface())
}

// length returns the number of elements of a list or mapping.
func length(list any) int {
	if l, ok := list.([]any); ok {
		return len(l)
	}
	return reflect.ValueOf(list).Len()
}

// indexOf converts an index that may count from the end.
func indexOf(i, n int) (int, bool) {
	if i < 0 {
		i += n
	}
	return i, 0 <= i && i < n
}

func (m *meter) character(s string, index int, may bool) any {
	m.charge(int64(len(s)))
	n := utf8.RuneCountInString(s)
	i, ok := indexOf(index, n)
	if ok {
		return s[offset(s, i):offset(s, i+1)]
	}
	if !may {
		fail("index %d is out of range for a string of %d", index, n)
	}
	return nil
}

// offset returns the byte offset of a character.
func offset(s string, character int) int {
	for at := range s {
		if character == 0 {
			return at
		}
		character--
	}
	return len(s)
}

// wrongIndex describes a wrong index or indexed value, or returns "".
func wrongIndex(of, index kinds, ofName, indexName string) string {
	switch {
	case of&(textKind|listKind|mappingKind|otherKind) == 0:
		return fmt.Sprintf("%s cannot be indexed", ofName)
	case of == listKind && index&wholeKind == 0:
		return "a list is indexed by integers, as in list[0], not by " + indexName
	case of == textKind && index&wholeKind == 0:
		return "a string is indexed by integers, as in text[0], not by " + indexName
	case of == otherKind && index&textKind == 0:
		return fmt.Sprintf("%s cannot be indexed by %s", ofName, indexName)
	}
	return ""
}

func noParts(kind string) string {
	return "only lists and strings can be sliced, [FROM:TO], not " + kind
}

func wrongBound(kind string) string {
	return "slice bounds are integers, not " + kind
}

// slice returns a part of a list, or of a string by characters. Before each bound there
// is a flag for its presence.
func (m *meter) slice(args []any) any {
	of := args[0]
	k := kindOf(of)
	n := 0
	switch k {
	case textKind:
		n = utf8.RuneCountInString(of.(string))
	case listKind:
		n = length(of)
	default:
		fail("%s", noParts(kindName(of)))
	}
	from, to := bound(args[1], args[2], 0, n), bound(args[3], args[4], n, n)
	from = min(from, to)
	if s, ok := of.(string); ok {
		m.charge(int64(len(s)))
		return s[offset(s, from):offset(s, to)]
	}
	m.charge(each * int64(to-from))
	return m.elements(of)[from:to:to]
}

// bound returns a bound of a part, limited to 0 and n.
func bound(there, v any, absent, n int) int {
	if there == false {
		return absent
	}
	if kindOf(v) != wholeKind {
		fail("%s", wrongBound(kindName(v)))
	}
	i := wholeOf(v)
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}
