package render

import (
	"sort"
	"strings"
	"unicode"
)

// clean makes a text safe to be written anywhere: on one line, and without
// bytes that are no letters.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0xFFFE, r == 0xFFFF:
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// width is about how wide a text is in a bold sans-serif font of a size, in
// pixels. The fonts of viewers differ, so it is rather more than less.
func width(s string, size int) int {
	thousandths := 0
	for _, r := range s {
		thousandths += advance(r)
	}
	return (thousandths*size + 999) / 1000
}

// advance is the width of a letter in thousandths of the font's size, after
// those of DejaVu Sans Bold, the widest of the fonts that viewers are likely to have.
func advance(r rune) int {
	switch {
	case r >= 0x1100:
		return 1100 // full width
	case r >= 0x80:
		return 770
	case strings.ContainsRune("fijltrI.,:;'|!()[]{} -/", r):
		return 430
	case strings.ContainsRune("mwMW@%", r):
		return 1040
	case unicode.IsUpper(r):
		return 790
	}
	return 710
}

// fit shortens a text in its middle, where names differ least, so that it is no
// wider than that.
func fit(s string, size, most int) string {
	if width(s, size) <= most {
		return s
	}
	letters := []rune(s)
	keeping := func(n int) string {
		return string(letters[:(n+1)/2]) + "…" + string(letters[len(letters)-n/2:])
	}
	tooMany := sort.Search(len(letters), func(n int) bool { return width(keeping(n), size) > most })
	return keeping(max(tooMany-1, 0))
}
