// Package codec provides encoding and decoding of values for file formats and Go types.
//
// A [Codec] reads and writes a file format; [ByExtension] finds it by file extension. A
// [Value] encodes and decodes a Go type, for results of computations; [For] finds it. It
// restores values exactly, or refuses their type beforehand.
//
// Decoded values are immutable by contract: callers may share them, and they may refer to
// the bytes they were decoded from, which may be read-only mapped memory. Decoding never
// runs code from the bytes.
package codec

import (
	"errors"
	"fmt"
	"image"
	"strconv"

	"github.com/larder-data/larder/internal/text/display"
)

// ErrSetting is wrapped by errors that are due to a setting of the program: [MaxPixels],
// [MaxItem], [MaxUnpacked] or [StrictYAML].
var ErrSetting = errors.New("codec: a limit of the program is exceeded")

// settingError tells what to do about an ErrSetting.
type settingError string

func (e settingError) Error() string { return string(e) }

func (e settingError) Is(target error) bool { return target == ErrSetting }

// ErrReadOnly is wrapped by errors of Encode if the format can only be read.
var ErrReadOnly = errors.New("codec: format can be read but not written")

// A Codec reads and writes one file format. Its functions may be called from
// many goroutines.
type Codec struct {
	// Name is the unique, lower-case name of the format.
	Name string
	// Version, from 1 on, changes whenever equal bytes decode, or equal values encode, to
	// something different. With 0, the code itself is the version: the functions are
	// identified by their source, if the package registers it (package codeid), and
	// otherwise by the build.
	Version int
	// Library is the ID of the library that decodes in place of the codec, and may encode;
	// [Use] sets it.
	Library string
	// Extensions are the file extensions of the format, lower case, without dot. The first
	// is used for writing.
	Extensions []string
	// Lossless reports that decoding an encoded value gives an equal value.
	Lossless bool
	// ReadOnly reports that Encode always fails with ErrReadOnly. [Register] sets it for a
	// codec without Encode.
	ReadOnly bool
	// Decode returns the value of the bytes of a file. The value may refer to b, which must
	// not be changed afterwards. Decode is safe for any b.
	Decode func(b []byte) (any, error)
	// Check returns an error that Decode would return, if it can find it much faster, for
	// example in a header: see [Check]. It is nil if only Decode can tell.
	Check func(b []byte) error
	// Claims estimates from the header of b how many bytes of memory Decode takes, so that
	// they can be reserved. Nil means a few times the size of b.
	Claims func(b []byte) int64
	// Reduce decodes an image at 1/2, 1/4 or 1/8 of its sides, rounded up. It picks the
	// smallest whose sides, rounded down, are at least those of least, or the full size if
	// none is large enough. Pixels are about the means of those they replace. It also
	// returns the full size. Nil for formats that are only read at full size.
	Reduce func(b []byte, least image.Point) (v any, whole image.Point, err error)
	// Into decodes into the value that ptr points to, for formats that can fill typed
	// structures; [DecodeInto] calls it. Nil for others.
	Into func(b []byte, ptr any) error
	// Encode returns the bytes of a file. The caller owns the result, or it shares memory
	// with v. Equal values give equal bytes.
	Encode func(v any) ([]byte, error)
	// Update returns the bytes of a file of v, as Encode does, but preserves all of the
	// file old that v does not change: order, digits, escapes, comments. A part is
	// unchanged if old has the same value at the same position. If v lacks parts of old,
	// their parent is rewritten. Nil for formats without parts.
	Update func(old []byte, v any) ([]byte, error)
	// Noting is Decode, and calls note for each value that other readers may read
	// differently. Nil for formats without such values.
	Noting func(b []byte, note func(Ambiguity)) (any, error)

	header func(b []byte) (image.Config, error) // of a supported image; nil if no library reads the format
	own    func(b []byte) (any, error)          // Decode, if a library decodes in its place

	ownReduce func([]byte, image.Point) (any, image.Point, error) // Reduce, if a library reduces in its place

	borrowFunc func(b []byte, config image.Config, by int) (image.Image, func(), bool) // of the library; nil if it has none

	raster   func(image.Image) image.Image // converts an image to a type written row by row; nil if no library writes the format
	ownWrite func(v any) ([]byte, error)   // Encode, if a library encodes in its place
}

// An Ambiguity is a value of a file that other software reads differently.
type Ambiguity struct {
	Line     int    // from 1
	Text     string // as written
	Readings string // how this package reads it, and how others do
}

func (d Ambiguity) String() string {
	return fmt.Sprintf("line %d: %s is %s", d.Line, d.Text, d.Readings)
}

// ID returns the format, the version of its codec if it has one, and the library that
// decodes in its place, if any ("jpeg/1", "jpeg by turbo/1/2.1.5"). Keys that depend on
// decoded values include it, with the code identity of a codec without a version, because
// two decoders may give different values.
func (c Codec) ID() string {
	id := c.Name
	if c.Version > 0 {
		id += "/" + strconv.Itoa(c.Version)
	}
	if c.Library != "" {
		id += " by " + c.Library
	}
	return id
}

// Functions lists the functions of the codec. Decoded values and encoded bytes depend on
// their code, and on a library in their place.
func (c Codec) Functions() []any {
	list := []any{c.Decode}
	if c.own != nil {
		list = append(list, c.own, c.header)
	}
	if c.Reduce != nil {
		list = append(list, c.Reduce)
	}
	if c.ownReduce != nil {
		list = append(list, c.ownReduce)
	}
	if c.borrowFunc != nil {
		list = append(list, c.borrowFunc)
	}
	if c.ownWrite != nil {
		list = append(list, c.ownWrite, c.raster)
	}
	if !c.ReadOnly {
		list = append(list, c.Encode)
	}
	if c.Into != nil {
		list = append(list, c.Into)
	}
	if c.Update != nil {
		list = append(list, c.Update)
	}
	if c.Noting != nil {
		list = append(list, c.Noting)
	}
	return list
}

// unsupported is the error of an Encode that cannot write v.
func unsupported(name string, v any, want string) error {
	return fmt.Errorf("%s: %s cannot be written; give %s", name, display.Value(v), want)
}

// guarded calls a decoder and converts its panic to an error: a last resort for third-party
// decoders.
func guarded[T any](decode func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoder panicked: %v", r)
		}
	}()
	return decode()
}
