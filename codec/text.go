package codec

import (
	"fmt"
	"unicode/utf8"
)

// textCodec reads UTF-8 text as a string. Other encodings are an error rather than a value
// of another type: their users know the encoding, and can register a codec for it.
var textCodec = Codec{
	Name:       "txt",
	Extensions: []string{"txt", "text"},
	Lossless:   true,
	Check:      func(b []byte) error { return validText("txt", b) },
	Decode: func(b []byte) (any, error) {
		if err := validText("txt", b); err != nil {
			return nil, err
		}
		return string(b), nil
	},
	Encode: func(v any) ([]byte, error) {
		s, ok := v.(string)
		if !ok {
			return nil, unsupported("txt", v, "a string")
		}
		b := []byte(s)
		return b, validText("txt", b)
	},
}

// byteOrderMark starts text files of some software.
const byteOrderMark = "\ufeff"

// validText returns an error that tells where b stops being UTF-8.
func validText(name string, b []byte) error {
	if err := notText(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// notText is validText without the name of a format.
func notText(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	at := 0
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	line, column := placeAt(b, at)
	return fmt.Errorf("line %d, column %d: byte 0x%02x is not UTF-8; save the file as UTF-8", line, column, b[at])
}
