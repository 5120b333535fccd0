// Package codec turns bytes into values and values into bytes.
//
// A [Codec] does it for a file format, and is found by file extension with
// [ByExtension]. A [Value] does it for a Go type, and is found with [For]: it
// is how results of computations are kept, and gives back exactly what it was
// given or refuses the type beforehand.
//
// Decoded values are immutable by contract: they may be shared between
// callers, and may refer to the bytes they were decoded from, which may be
// read-only mapped memory. Decoding runs no code that the bytes bring along.
package codec

import (
	"errors"
	"fmt"
	"image"
	"strconv"

	"github.com/larder-data/larder/internal/text/display"
)

// ErrSetting is wrapped by errors that are due to a setting of the program, [MaxPixels], [MaxItem],
// [MaxUnpacked] or [StrictYAML]: with another one there would be a value.
var ErrSetting = errors.New("codec: a setting of the program stands in the way")

// settingError says what to do about an ErrSetting.
type settingError string

func (e settingError) Error() string { return string(e) }

func (e settingError) Is(target error) bool { return target == ErrSetting }

// ErrReadOnly is wrapped by Encode of a format that can only be read.
var ErrReadOnly = errors.New("codec: format can be read but not written")

// A Codec reads and writes one file format. Its functions may be called from
// many goroutines.
type Codec struct {
	// Name of the format, lower case; unique.
	Name string
	// Version, from 1 on, says by which code equal bytes decode to equal values
	// and equal values encode to equal bytes. With 0 the code itself says so: the
	// functions are known by their source, if the package registers that (package
	// source), and otherwise by the build.
	Version int
	// Library is the ID of the library that decodes in place of the codec, and may
	// encode; see [Use], which sets it.
	Library string
	// Extensions of files of the format, lower case, without dot. The first
	// is the one written.
	Extensions []string
	// Lossless says that decoding what was encoded gives an equal value.
	Lossless bool
	// ReadOnly says that Encode always fails with ErrReadOnly. [Register]
	// sets it for a codec without Encode.
	ReadOnly bool
	// Decode makes a value of the bytes of a file. The value may refer to b,
	// which must not be changed afterwards. Any b whatever is safe.
	Decode func(b []byte) (any, error)
	// Check returns an error that Decode would, if it can tell for a small part of the
	// time that this takes, as from a header: see [Check]. Nil means that nothing is
	// told before all is decoded.
	Check func(b []byte) error
	// Claims returns about how many bytes of memory Decode takes for b, as its
	// header says, so that it can be known before they are taken. Nil means some
	// times what b has.
	Claims func(b []byte) int64
	// Reduce decodes an image to 1/2, 1/4 or 1/8 of its sides, rounded up: the
	// smallest whose sides, rounded down, are those of least at least, or the whole
	// where none is so large. Pixels are about the means of those that
	// they stand for. It returns the size of the whole, too. Nil for formats that
	// are only read whole.
	Reduce func(b []byte, least image.Point) (v any, whole image.Point, err error)
	// Into decodes into what ptr points to, for formats that can fill typed
	// structures. Nil for others. It is used by [DecodeInto].
	Into func(b []byte, ptr any) error
	// Encode makes the bytes of a file. The result is the caller's own or
	// shares memory with v. Equal values give equal bytes.
	Encode func(v any) ([]byte, error)
	// Update makes the bytes of a file of v, as Encode does, but keeps of the
	// file old all that v does not change: order, digits, escapes, comments.
	// A part of v counts as unchanged if it is what stands in old at the same
	// place. Where v lacks parts that old has, the whole that they were part
	// of is written anew. Nil for formats without parts.
	Update func(old []byte, v any) ([]byte, error)
	// Noting is Decode, and calls note for each value that is read by a rule
	// where others read something else. Nil for formats without doubts.
	Noting func(b []byte, note func(Doubt)) (any, error)

	header func(b []byte) (image.Config, error) // of an image that may be read; nil where no library reads the format
	own    func(b []byte) (any, error)          // Decode, where a library decodes in its place

	ownReduce func([]byte, image.Point) (any, image.Point, error) // Reduce, where a library reduces in its place

	lend func(b []byte, config image.Config, by int) (image.Image, func(), bool) // of the library; nil if it has none

	raster   func(image.Image) image.Image // brings an image to a type that is written row by row; nil where no library writes the format
	ownWrite func(v any) ([]byte, error)   // Encode, where a library encodes in its place
}

// A Doubt is a value of a file that is read by a rule, and that other software
// reads as something else.
type Doubt struct {
	Line     int    // from 1
	Text     string // as it is written
	Readings string // what it is here, and what elsewhere
}

func (d Doubt) String() string { return fmt.Sprintf("line %d: %s is %s", d.Line, d.Text, d.Readings) }

// ID names the format, the version of its codec if it has one, and the library that
// decodes in its place, if one does ("jpeg/1", "jpeg by turbo/1/2.1.5"). Where decoded
// values matter it is a part of keys, with what a codec without a version is known by:
// two decoders of one format may give two values.
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

// Functions lists the functions that the codec has: what equal bytes and values
// become depends on their code, and on the library where one decodes or encodes.
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
	if c.lend != nil {
		list = append(list, c.lend)
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

// unsupported is the error of an Encode that cannot write a v.
func unsupported(name string, v any, want string) error {
	return fmt.Errorf("%s: %s cannot be written; it takes %s", name, display.Value(v), want)
}

// guarded calls a decoder and turns its panic into an error: the last resort
// for decoders of others.
func guarded[T any](decode func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoder panicked: %v", r)
		}
	}()
	return decode()
}
