package display

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxShort = 200

// Short shortens a string for a message to about 200 characters. It escapes controls
// and bytes that are not UTF-8, because they have no printable form.
func Short(text string) string { return escaped(text, maxShort) }

// Name returns the name of a file, an item or the like for a message. A plain name is
// unchanged; others are quoted, on one line, with unprintable characters escaped. It is
// as long as [Short] allows.
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

// Printable returns a whole string for a terminal, with the escapes of [Short]: the
// name of a file may contain control sequences.
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

// character returns the form of a character in a message.
func character(r rune, bytes string) string {
	switch {
	case r == utf8.RuneError && len(bytes) == 1:
		return fmt.Sprintf(`\x%02x`, bytes[0])
	case r == '\n' || r == '\t' || unicode.IsPrint(r):
		return bytes
	}
	return fmt.Sprintf(`\u%04x`, r)
}
