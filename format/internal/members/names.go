package members

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/jsontext"
)

// SplitName splits the name of a member at the first dot of the base name, into the key
// of its sample and a suffix. Members without such a dot, with nothing before it, or
// with names like __this__.json, which describe the archive, belong to no sample.
func SplitName(name string) (key, suffix string, ok bool) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	prefix, suffix, ok := strings.Cut(base, ".")
	if !ok || prefix == "" || strings.HasPrefix(prefix, "__") && strings.HasSuffix(prefix, "__") {
		return "", "", false
	}
	return name[:len(name)-len(suffix)-1], suffix, true
}

// numbers are the suffixes of members that contain an integer as text.
var numbers = []string{"cls", "cls2", "count", "id", "index", "inx"}

// IsInteger reports whether a member with the suffix contains an integer as text.
func IsInteger(suffix string) bool {
	return slices.Contains(numbers, strings.ToLower(suffix[strings.LastIndexByte(suffix, '.')+1:]))
}

// Integer converts an integer in b to JSON, in place: forms that only Python's int
// accepts (0008, +8, 1_000) become blanks before the number. name is for the error.
func Integer(name string, b []byte) error {
	if isInteger(b) {
		return nil
	}
	text := bytes.Trim(b, " \t\r\n\v\f")
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	if !negative {
		digits = bytes.TrimPrefix(digits, []byte("+"))
	}
	if !isDigits(digits) {
		return fmt.Errorf("%s: %s is not an integer; use another extension", name, display.Short(string(b)))
	}
	digits = bytes.ReplaceAll(digits, []byte("_"), nil)
	if digits = bytes.TrimLeft(digits, "0"); len(digits) == 0 {
		digits, negative = []byte("0"), false
	}
	digits = slices.Clone(digits)
	at := len(b) - copy(b[len(b)-len(digits):], digits)
	if negative {
		at--
		b[at] = '-'
	}
	for i := range at {
		b[i] = ' '
	}
	return nil
}

// isDigits reports whether a string consists of digits, with single underscores between
// them.
func isDigits(text []byte) bool {
	for i, c := range text {
		if (c < '0' || c > '9') && (c != '_' || i == 0 || i == len(text)-1 || text[i-1] == '_') {
			return false
		}
	}
	return len(text) > 0
}

// itemOf returns the item of a suffix, and the extension of its bytes. The extension is
// the last one, in lower case. The item is what precedes it, or the extension itself:
// jpg is the item jpg, and seg.png the item seg.
func itemOf(suffix string) (item, ext string) {
	if dot := strings.LastIndexByte(suffix, '.'); dot > 0 {
		item, ext = suffix[:dot], strings.ToLower(suffix[dot+1:])
	} else {
		ext = strings.ToLower(suffix)
		item = ext
	}
	if slices.Contains(numbers, ext) {
		ext = "json"
	}
	return item, ext
}

// An Encoded is an item that becomes a member.
type Encoded struct {
	Item, Ext string
	Content   []byte
}

// SuffixesOf is the reverse of [NamesOf]: it returns the suffixes of members that are
// read as these items.
func SuffixesOf(items []Encoded) ([]string, error) {
	if whole, ok := wholeSuffixes(items); ok {
		return whole, nil
	}
	suffixes := make([]string, len(items))
	for i, it := range items {
		var ok bool
		if suffixes[i], ok = suffixOf(it); !ok {
			return nil, fmt.Errorf("item %s: no member name can represent it with extension %q; rename the item", display.Name(it.Item), it.Ext)
		}
	}
	return suffixes, nil
}

// wholeSuffixes returns the names of items if each is a whole suffix, because otherwise
// two of them would be one item.
func wholeSuffixes(items []Encoded) ([]string, bool) {
	suffixes := make([]string, len(items))
	for i, it := range items {
		suffixes[i] = it.Item
	}
	names, err := NamesOf("", suffixes)
	if err != nil {
		return nil, false
	}
	for i, n := range names {
		if n.Item != items[i].Item || n.Ext != strings.ToLower(items[i].Ext) || n.Integer && !isInteger(items[i].Content) || strings.ContainsAny(n.Item, "/\x00") {
			return nil, false
		}
	}
	return suffixes, true
}

// suffixOf returns the suffix of the member of an item. ok is false if no name is read
// as that item.
func suffixOf(it Encoded) (suffix string, ok bool) {
	item, ext := it.Item, strings.ToLower(it.Ext)
	switch {
	case ext == "" || item == ext:
		suffix = item
	case ext == "json" && slices.Contains(numbers, item) && isInteger(it.Content):
		suffix = item
	default:
		suffix = item + "." + ext
	}
	was, how := itemOf(suffix)
	ok = was == item && (how == ext || ext == "") && (!IsInteger(suffix) || isInteger(it.Content)) && !strings.ContainsAny(suffix, "/\x00") && item != Key
	return suffix, ok
}

// isInteger reports whether a string is a JSON integer, possibly with blanks and line
// ends around it, as echo writes them.
func isInteger(text []byte) bool {
	digits := bytes.TrimPrefix(bytes.Trim(text, " \t\r\n"), []byte("-"))
	return isDigits(digits) && jsontext.Valid(text)
}
