package dataset

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// Recode returns an item with the same value, encoded under another extension. It
// returns the item itself if the extension is equal, and reuses the bytes if only the
// name of the format differs (jpg, jpeg). Images and arrays are converted to each other
// as the format requires.
func Recode(ctx context.Context, it *Item, ext string) (*Item, error) {
	have, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	from, known := codec.ByExtension(have)
	to := codecFor(ext)
	switch {
	case have == ext:
		return it, nil
	case known && from.Name == to.Name:
		b, err := it.Bytes(ctx)
		if err != nil {
			return nil, err
		}
		return NewBytes(ext, b), nil
	}
	v, err := it.Value(ctx)
	if err != nil {
		return nil, err
	}
	if img, ok := v.(image.Image); ok && to.Name == "npy" {
		if v, err = array.FromImage(img, 0); err != nil {
			return nil, err
		}
	}
	b, err := to.Encode(v)
	if err != nil {
		return nil, &encodeError{ext, to.Name, err}
	}
	return NewBytes(ext, b), nil
}

// An encodeError says why a value cannot be encoded in a format.
type encodeError struct {
	ext, format string
	err         error
}

// Error names the format once, although codecs name it, too.
func (e *encodeError) Error() string {
	return fmt.Sprintf("encode as %s: %s", e.ext, strings.TrimPrefix(e.err.Error(), e.format+": "))
}

func (e *encodeError) Unwrap() error { return e.err }

// RecodeJPEG returns an item with the same image, encoded as JPEG with a quality from 1
// to 100.
func RecodeJPEG(ctx context.Context, it *Item, quality int) (*Item, error) {
	v, err := it.Value(ctx)
	if err != nil {
		return nil, err
	}
	b, err := codec.EncodeJPEG(v, quality)
	if err != nil {
		return nil, &encodeError{"jpeg", "jpeg", err}
	}
	return NewBytes("jpg", b), nil
}

// CheckExt returns an error if items cannot be encoded under an extension.
func CheckExt(ext string) error {
	c, _ := codec.ByExtension(ext)
	known := slices.Contains(c.Extensions, ext)
	if known && !c.ReadOnly {
		return nil
	}
	var names []string
	for _, c := range codec.All() {
		if !c.ReadOnly {
			names = append(names, c.Extensions...)
		}
	}
	slices.Sort(names)
	why := "is not a known extension"
	if known {
		why = "can be read but not written"
	}
	return fmt.Errorf("%q %s; use one of %s", ext, why, strings.Join(names, ", "))
}
