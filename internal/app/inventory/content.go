package inventory

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Content describes a payload as far as possible without the program that computed
// it. It runs no code of the payload.
type Content struct {
	// As is how the payload was read. It is the Go type of the record's type ("int",
	// "image.Image", "array"), "parcel" or "file digest". Otherwise it is a guess
	// from the bytes: "cbor", "text", "image", "bytes".
	As string
	// Text is a human-readable form, cut to about two thousand bytes with "..." for
	// the rest.
	Text string
	// Items are the items of a parcel, in order.
	Items []Item
	// Problem says why the payload could not be read as its type.
	Problem string
}

// An Item is an item of a sample in a parcel.
type Item struct {
	Name string
	// From is not empty for an item that was passed on: only its key in the input
	// is stored.
	From   string
	Ext    string // how the bytes are decoded
	Size   int64  // bytes
	Shared bool   // by all samples of the dataset
	Text   string // short form of the content; "" if there is none
}

func contentOf(r store.Record) Content {
	switch read, known := readers()[r.Type]; {
	case known:
		c := Content{As: read.as}
		text, err := guarded(func() (string, error) { return read.text(r.Payload) })
		if c.Text = text; err != nil {
			c.Problem = err.Error()
		}
		return c
	case r.Type == records.Type:
		return parcelContent(r.Payload)
	}
	return guess(r.Payload)
}

// A reader formats the payloads of one type.
type reader struct {
	as   string
	text func(payload []byte) (string, error)
}

// readers are the readers of types with a known fingerprint.
var readers = sync.OnceValue(func() map[uint64]reader {
	all := map[uint64]reader{
		records.FileDigest: {"file digest", readFileDigest},
		arrayType:          {"array", readArray},
		arrayPointerType:   {"array", readArray},
	}
	know(all, "string", func(s string) string { return clip([]byte(s)) })
	know(all, "[]byte", bytesText)
	know(all, "bool", sprint[bool])
	know(all, "int", sprint[int])
	know(all, "int8", sprint[int8])
	know(all, "int16", sprint[int16])
	know(all, "int32", sprint[int32])
	know(all, "int64", sprint[int64])
	know(all, "uint", sprint[uint])
	know(all, "uint8", sprint[uint8])
	know(all, "uint16", sprint[uint16])
	know(all, "uint32", sprint[uint32])
	know(all, "uint64", sprint[uint64])
	know(all, "float32", sprint[float32])
	know(all, "float64", sprint[float64])
	know(all, "complex64", sprint[complex64])
	know(all, "complex128", sprint[complex128])
	know(all, "time.Duration", sprint[time.Duration])
	know(all, "time.Time", func(t time.Time) string { return t.Format(time.RFC3339Nano) })
	know(all, "image.Image", imageText[image.Image])
	know(all, "*image.RGBA", imageText[*image.RGBA])
	know(all, "*image.NRGBA", imageText[*image.NRGBA])
	know(all, "*image.Gray", imageText[*image.Gray])
	know(all, "*image.YCbCr", imageText[*image.YCbCr])
	know(all, "*image.Paletted", imageText[*image.Paletted])
	know(all, "color.Color", sprint[color.Color])
	return all
})

func know[T any](all map[uint64]reader, as string, text func(T) string) {
	v, err := codec.For[T]()
	if err != nil {
		panic(err) // the types are constant
	}
	all[v.Type] = reader{as, func(payload []byte) (string, error) {
		value, err := v.Decode(payload)
		if err != nil {
			return "", err
		}
		return text(value), nil
	}}
}

func sprint[T any](v T) string { return fmt.Sprint(v) }

func imageText[T image.Image](img T) string {
	if v := reflect.ValueOf(img); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "nil"
	}
	return pixels(img.Bounds().Dx(), img.Bounds().Dy())
}

func pixels(width, height int) string { return fmt.Sprintf("%d x %d pixels", width, height) }

func readFileDigest(payload []byte) (string, error) {
	if len(payload) != key.Size {
		return "", fmt.Errorf("a digest of %d bytes", len(payload))
	}
	return key.Digest(payload).String(), nil
}

func parcelContent(payload []byte) Content {
	c := Content{As: "parcel"}
	items, err := records.Decode(payload)
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	for _, it := range items {
		c.Items = append(c.Items, Item{
			Name: it.Key, From: it.From, Ext: it.Ext, Size: int64(len(it.Bytes)), Shared: it.Shared,
			Text: itemText(it.Ext, it.Bytes),
		})
	}
	return c
}

// itemText describes the content of a file by its extension.
func itemText(ext string, b []byte) string {
	c, _ := codec.ByExtension(ext)
	text, err := guarded(func() (string, error) {
		switch c.Name {
		case "jpeg", "png", "gif", "bmp", "tiff", "webp":
			return imageSize(b)
		case "npy":
			v, err := c.Decode(b)
			return fmt.Sprint(v), err
		case "json", "yaml", "txt", "csv":
			return strings.Join(strings.Fields(clipTo(2*maxString, b)), " "), nil
		}
		return "", nil
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// imageSize reads only the size of an image. Package codec registers the formats.
func imageSize(b []byte) (string, error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	return pixels(c.Width, c.Height), err
}

// guess describes bytes of unknown type. Named types and structs are CBOR, except
// types whose underlying type is a string or bytes.
func guess(b []byte) Content {
	if text, err := diagnose(b); err == nil {
		return Content{As: "cbor", Text: text}
	}
	if isText(b) {
		return Content{As: "text", Text: clip(b)}
	}
	if size, err := guarded(func() (string, error) { return imageSize(b) }); err == nil {
		return Content{As: "image", Text: size}
	}
	return Content{As: "bytes", Text: hexText(b)}
}

// bytesText returns bytes as text if they are text.
func bytesText(b []byte) string {
	if b == nil {
		return "nil"
	}
	if isText(b) {
		return clip(b)
	}
	if size, err := guarded(func() (string, error) { return imageSize(b) }); err == nil {
		return "an image of " + size
	}
	return hexText(b)
}

func hexText(b []byte) string {
	if len(b) > maxString {
		return hex.EncodeToString(b[:maxString]) + "..."
	}
	return hex.EncodeToString(b)
}

// isText reports whether b is UTF-8 without control characters.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	return !bytes.ContainsFunc(b, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' })
}

// clip returns the beginning of b as text, with unprintable characters replaced.
func clip(b []byte) string { return clipTo(maxDiagnosed, b) }

func clipTo(limit int, b []byte) string {
	rest := ""
	if len(b) > limit {
		b, rest = b[:limit], "..."
	}
	text := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, string(bytes.ToValidUTF8(b, nil)))
	return text + rest
}

// guarded turns the panic of a decoder into an error.
func guarded(read func() (string, error)) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("the decoder panicked: %v", r)
		}
	}()
	return read()
}
