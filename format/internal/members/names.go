package members

import (
	"bytes"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/jsontext"
)

// SplitName parts the name of a member into the key of its sample and what tells the member
// from the others at the first dot of the base name. Members that have no such dot, nothing
// before it, or names like __this__.json, which tell of the archive, belong to no sample.
func SplitName(name string) (key, suffix string, ok bool) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	prefix, suffix, ok := strings.Cut(base, ".")
	if !ok || prefix == "" || strings.HasPrefix(prefix, "__") && strings.HasSuffix(prefix, "__") {
		return "", "", false
	}
	return name[:len(name)-len(suffix)-1], suffix, true
}

// numbers are the endings of members that are whole numbers, written as text.
var numbers = []string{"cls", "cls2", "count", "id", "index", "inx"}

// itemOf returns the item that a member is, and the extension that says how it is read. The
// last extension is how, in small letters; what stands before it is the item, or the extension
// itself where nothing does: jpg is the item jpg, and seg.png the item seg.
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

// SuffixOf is the reverse of what a name is read as: how the name of a member ends that is an item. ok is false if no
// name is read as that item.
func SuffixOf(item, ext string, content []byte) (suffix string, ok bool) {
	ext = strings.ToLower(ext)
	switch {
	case ext == "" || item == ext:
		suffix = item
	case ext == "json" && slices.Contains(numbers, item) && isNumber(content):
		suffix = item
	default:
		suffix = item + "." + ext
	}
	was, how := itemOf(suffix)
	ok = was == item && (how == ext || ext == "") && !strings.ContainsAny(suffix, "/\x00") && item != Key
	return suffix, ok
}

// isNumber reports whether a text is what a member stands for that is called after a number: a
// whole number, also with blanks and line ends around it, as echo writes them and WebDataset
// reads them. What is no JSON at all can only be such a member with something else in it, and
// keeps its name, too.
func isNumber(text []byte) bool {
	digits := bytes.TrimPrefix(bytes.Trim(text, " \t\r\n"), []byte("-"))
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0 || !jsontext.Valid(text)
}
