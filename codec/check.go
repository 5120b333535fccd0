package codec

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
)

// Check reports whether bytes can be what their file extension claims, much faster than
// decoding a large value: it reads text (JSON, YAML, tables) whole, and of images and
// arrays the header. It returns the error of Decode, or nil if that is due to a setting, if
// the format is unknown, or if it has no check.
func Check(ext string, b []byte) error {
	c, known := ByExtension(ext)
	if !known || c.Check == nil {
		return nil
	}
	_, err := guarded(func() (struct{}, error) { return struct{}{}, c.Check(b) })
	if errors.Is(err, ErrSetting) {
		return nil
	}
	return err
}

// checkWhole decodes, which is fast for text.
func checkWhole(decode func(b []byte) (any, error)) func(b []byte) error {
	return func(b []byte) error {
		_, err := decode(b)
		return err
	}
}

// checkHeader reads the header of an image.
func checkHeader(name string, config func(io.Reader) (image.Config, error)) func(b []byte) error {
	return checkStart(name, func(b []byte) error {
		_, err := config(bytes.NewReader(b))
		return err
	})
}

// checkStart adds the format to an error, as decoders do.
func checkStart(name string, check func(b []byte) error) func(b []byte) error {
	return func(b []byte) error {
		if err := check(b); err != nil {
			return fmt.Errorf("%s: %w", name, inPlain(name, err))
		}
		return nil
	}
}
