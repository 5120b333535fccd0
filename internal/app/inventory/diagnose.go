package inventory

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
)

const (
	maxDiagnosed = 2000    // approximate bytes of diagnostic notation
	maxString    = 80      // displayed bytes of one string
	maxNotation  = 1 << 24 // bytes of CBOR to convert for the beginning of the notation
	maxNested    = 10000   // containers within containers
)

var errLong = errors.New("too long to be shown in diagnostic notation")

var notation = func() cbor.DiagMode {
	mode, err := cbor.DiagOptions{MaxNestedLevels: maxNested, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DiagMode()
	if err != nil {
		panic(err)
	}
	return mode
}()

// diagnose returns CBOR in diagnostic notation (RFC 8949 section 8). It cuts long
// strings and a long result, with "..." for the rest. b must be exactly one item.
func diagnose(b []byte) (string, error) {
	if len(b) > maxNotation {
		return "", errLong
	}
	text, err := notation.Diagnose(b)
	if err != nil {
		return "", err
	}
	var out []byte
	for len(text) > 0 && len(out) <= maxDiagnosed {
		at := quotedString.FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		end := min(at[0], maxDiagnosed)
		out = append(out, text[:end]...)
		if end == at[0] && at[1] > end {
			out, end = append(out, shortened(text[end:at[1]])...), at[1]
		}
		text = text[end:]
	}
	if text != "" {
		out = append(out, "..."...)
	}
	return string(out), nil
}

// quotedString matches a string in diagnostic notation, of text or of bytes.
var quotedString = regexp.MustCompile(`"([^"\\]|\\.)*"|'[^']*'`)

// shortened returns a quoted string with escapes of printable characters replaced,
// and cut if it is long.
func shortened(quoted string) string {
	text, out := quoted[1:len(quoted)-1], []byte{quoted[0]}
	for text != "" && len(out) <= 2*maxString { // two digits per byte
		r, size := unescaped(text)
		if unicode.IsPrint(r) && r != '"' && r != '\\' {
			out = utf8.AppendRune(out, r)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	if text != "" {
		out = append(out, "..."...)
	}
	return string(append(out, quoted[0]))
}

// unescaped returns the first character of text, and the size of its escape.
func unescaped(text string) (r rune, size int) {
	switch {
	case text[0] != '\\':
		return utf8.DecodeRuneInString(text)
	case text[1] != 'u':
		return 0, 2
	}
	if r = unit(text); utf16.IsSurrogate(r) {
		return utf16.DecodeRune(r, unit(text[6:])), 12
	}
	return r, 6
}

// unit reads a \u and its four digits.
func unit(text string) rune {
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
