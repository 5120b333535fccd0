package display

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShort is how many characters of a text a message shows.
const maxShort = 200

// Short returns a text for a message: about 200 characters of it, and what no terminal
// shows as a character (controls, bytes that are not UTF-8) as an escape.
func Short(text string) string { return escaped(text, maxShort) }

// Name returns a name, of a file, an item or whatever others may choose, for a message: as
// it stands if it is plain, and else in quotes, on one line, with escapes for all that is
// no character. It is as long as [Short] allows.
func Name(name string) string {
	plain := name != "" && !strings.HasPrefix(name, `"`)
	shown, n := len(name), 0
	for at, r := range name {
		if n++; n > maxShort {
			shown = at
			break
		}
		plain = plain && unicode.IsPrint(r) && r != utf8.RuneError
	}
	text := name[:shown]
	if !plain {
		text = strconv.Quote(text)
	}
	if shown < len(name) {
		text += fmt.Sprintf("… (%d bytes)", len(name))
	}
	return text
}

// Printable returns a text for a terminal, all of it, with what is no character as
// [Short] has it: a name of a file may hold what moves the cursor.
func Printable(text string) string { return escaped(text, math.MaxInt) }

func escaped(text string, most int) string {
	var b strings.Builder
	for shown, at := 0, 0; at < len(text); {
		if shown >= most {
			fmt.Fprintf(&b, "… (%d bytes)", len(text))
			break
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		c := character(r, text[at:at+size])
		shown += utf8.RuneCountInString(c)
		b.WriteString(c)
		at += size
	}
	return b.String()
}

// character is how a message shows a character.
func character(r rune, bytes string) string {
	switch {
	case r == utf8.RuneError && len(bytes) == 1:
		return fmt.Sprintf(`\x%02x`, bytes[0])
	case r == '\n' || r == '\t' || unicode.IsPrint(r):
		return bytes
	}
	return fmt.Sprintf(`\u%04x`, r)
}
