package cli

import "github.com/mattn/go-runewidth"

// displayed computes the width of strings in a terminal. Characters that are
// wide only in some fonts count as narrow, in every locale.
var displayed = &runewidth.Condition{}

func textWidth(text string) int { return displayed.StringWidth(text) }

// cut returns the part of a string that fits into width columns, with … for the
// rest.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return displayed.Truncate(text, width, "…")
}

// cutFront is cut for strings with a more important end, such as paths.
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

// padded pads or cuts a string to exactly width columns.
func padded(text string, width int, right bool) string {
	text = cut(text, width)
	if right {
		return displayed.FillLeft(text, width)
	}
	return displayed.FillRight(text, width)
}
