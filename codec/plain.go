package codec

import (
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/larder-data/larder/internal/text/csvtext"
)

// A plainError rewords the error of a library.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

// inPlain rewords an error of a library for readers that do not know it. Other errors stay.
func inPlain(format string, err error) error {
	if text := plainly(format, err); text != err.Error() {
		return &plainError{text, err}
	}
	return err
}

func plainly(format string, err error) string {
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Sprintf("line %d, column %d: %s", at.Line, at.Column, csvtext.Explain(at.Err))
	}
	if at, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return fmt.Sprintf("byte %d is invalid", int64(at))
	}
	if _, ok := errors.AsType[runtime.Error](err); ok {
		return "damaged data that the decoder does not expect"
	}
	text := err.Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), strings.HasSuffix(text, "unexpected EOF"), strings.HasSuffix(text, "short chunk header"), strings.HasSuffix(text, "short chunk data"):
		return "truncated, empty, or not " + format
	case strings.HasSuffix(text, "missing SOI marker"), strings.HasSuffix(text, "not a PNG file"), strings.Contains(text, "can't recognize format"), strings.HasSuffix(text, "not a valid zip file"), strings.HasSuffix(text, "missing RIFF chunk header"):
		return "not a " + format + " file, despite its name"
	}
	for _, library := range []string{"png: ", "gif: ", "webp: ", "vp8: ", "vp8l: ", "riff: ", "zip: ", "zlib: ", "flate: ", "lzw: ", "image: "} {
		text = strings.TrimPrefix(text, library)
	}
	for _, damage := range []string{"invalid format: ", "invalid JPEG format: "} {
		if what, ok := strings.CutPrefix(text, damage); ok {
			return "damaged: " + what
		}
	}
	for _, feature := range []string{"unsupported feature: ", "unsupported JPEG feature: "} {
		if what, ok := strings.CutPrefix(text, feature); ok {
			return "unsupported feature (" + what + "); save in another way"
		}
	}
	return text
}
