package csvtext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// byteOrderMark at the start of a file is not part of its first field.
const byteOrderMark = "\ufeff"

// Append appends a row, which a [Reader] reads back as the same fields.
func Append(dst []byte, row []string, comma rune) []byte {
	for i, field := range row {
		if i > 0 {
			dst = utf8.AppendRune(dst, comma)
		}
		if !needsQuotes(field, comma) && (field != "" || len(row) > 1) { // an empty line may be skipped
			dst = append(dst, field...)
			continue
		}
		dst = append(dst, '"')
		dst = append(dst, strings.ReplaceAll(field, `"`, `""`)...)
		dst = append(dst, '"')
	}
	return append(dst, '\n')
}

// needsQuotes reports whether to quote a field: because it would not be read back
// otherwise, or because other software would change it, such as blanks that it trims.
func needsQuotes(field string, comma rune) bool {
	if field == "" {
		return false
	}
	if field == `\.` || strings.HasPrefix(field, byteOrderMark) || strings.ContainsRune(field, comma) || strings.ContainsAny(field, "\"\r\n") {
		return true
	}
	first, _ := utf8.DecodeRuneInString(field)
	return unicode.IsSpace(first)
}
