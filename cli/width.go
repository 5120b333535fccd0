package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wide are the characters that take two columns of a terminal: those of East
// Asian width W or F in Unicode's EastAsianWidth.txt, by blocks. A block counts
// as a whole, so that a text may be taken for wider than it is, never for
// narrower.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2630, 0x2637},
	{0x2648, 0x2653}, {0x267f, 0x26ff}, {0x2705, 0x27bf}, {0x2b1b, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x4dbf},
	{0x4e00, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe6b}, {0xff01, 0xff60},
	{0xffe0, 0xffe6}, {0x16fe0, 0x1b2ff}, {0x1d300, 0x1d376}, {0x1f000, 0x1faff}, {0x20000, 0x3fffd},
}

// runeWidth is how many columns of a terminal a character takes.
func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// textWidth is how many columns a text takes.
func textWidth(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// cut returns as much of a text as fits into so many columns, with … in place of
// what is left out.
func cut(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	n := 1 // the …
	for i, r := range text {
		if n += runeWidth(r); n > width {
			return text[:i] + "…"
		}
	}
	return text
}

// cutFront is cut for texts whose end says more, such as paths.
func cutFront(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	for n := textWidth(text); text != "" && n >= width; {
		r, size := utf8.DecodeRuneInString(text)
		text, n = text[size:], n-runeWidth(r)
	}
	return cut("…"+text, width)
}

// padded returns a text that takes exactly so many columns.
func padded(text string, width int, right bool) string {
	text = cut(text, width)
	space := strings.Repeat(" ", max(0, width-textWidth(text)))
	if right {
		return space + text
	}
	return text + space
}
