package cli

import "github.com/mattn/go-runewidth"

// displayed says how many columns of a terminal a text takes. Characters that are
// wide in some fonts only count as narrow, whatever the locale is.
var displayed = &runewidth.Condition{}

func textWidth(text string) int { return displayed.StringWidth(text) }

// cut returns as much of a text as fits into so many columns, with … in place of
// what is left out.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return displayed.Truncate(text, width, "…")
}

// cutFront is cut for texts whose end says more, such as paths.
func cutFront(text string, width int) string {
	over := textWidth(text) - width
	switch {
	case over <= 0:
		return text
	case width <= 0:
		return ""
	}
	return cut("…"+displayed.TruncateLeft(text, over+1, ""), width)
}

// padded returns a text that takes exactly so many columns.
func padded(text string, width int, right bool) string {
	text = cut(text, width)
	if right {
		return displayed.FillLeft(text, width)
	}
	return displayed.FillRight(text, width)
}
