package codec

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
)

// Check looks whether bytes can be what the extension of their file says, for a small part
// of what it takes to decode a large value: text (JSON, YAML, tables) is read whole, of
// images and arrays the header. It returns the error that Decode would have, and nil where
// that would be due to a setting, or where the format is not known or has no such look.
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

// checkWhole decodes, which of text takes little.
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

// checkStart names the format in an error, as decoders do.
func checkStart(name string, check func(b []byte) error) func(b []byte) error {
	return func(b []byte) error {
		if err := check(b); err != nil {
			return fmt.Errorf("%s: %w", name, inPlain(name, err))
		}
		return nil
	}
}
