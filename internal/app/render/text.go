package render

import (
	"sort"
	"strings"
	"unicode"
)

// clean makes a string safe for any output: on one line, and without invalid or
// unprintable characters.
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

// width returns the approximate width of a string in a bold sans-serif font, in
// pixels. It overestimates, because the fonts of viewers differ.
func width(s string, size int) int {
	thousandths := 0
	for _, r := range s {
		thousandths += advance(r)
	}
	return (thousandths*size + 999) / 1000
}

// advance returns the width of a letter in thousandths of the font size, from
// DejaVu Sans Bold, the widest font likely in viewers.
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

// fit shortens a string in its middle, where names differ least, to a maximum
// width.
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
