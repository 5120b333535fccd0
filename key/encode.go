package key

import (
	"reflect"
	"unsafe"
)

// A Keyer names itself. AppendKey appends to dst bytes that are the same for
// two values exactly if they are equal, and returns the result; the type and
// the length are put in front by the caller. It may be called on a zero value
// and from many goroutines; it must neither change what it is called on nor
// keep dst.
//
// A struct whose AppendKey is promoted from an embedded field is encoded field
// by field instead, as the promoted method knows nothing of the other fields.
type Keyer interface {
	AppendKey(dst []byte) ([]byte, error)
}

// Encode appends the canonical encoding of v to dst: equal values of equal
// types have equal encodings, and all others different ones. Where there is no
// such encoding, dst is returned as it was, with an [*UnkeyableError]: for
// functions, channels, addresses, structs with unexported fields, maps that
// their own keys refer to, values nested deeper than 10 000 levels, and whatever contains one of them.
//
// Equal means, beside the obvious:
//
//   - Types: a named type differs from the type it is made of. A type that is
//     changed (a field added, renamed, of another type) is another type.
//     A field with the tag `key:"-"` and a blank field (_) are not there.
//   - Floats: their bits. NaNs of different bits are different, as are 0.0 and
//     -0.0: a function may tell them apart.
//   - Slices and maps: nil differs from empty; capacity and the order of
//     a map's entries do not matter. A map with two keys of equal content
//     (NaNs, pointers to equal values) is refused.
//   - Pointers: nil, or what is pointed to; not where.
//   - Sharing: which pointers, slices and maps within v are the same, as they are
//     when they can be told apart or a write through one is seen through the
//     other: pointers to one variable, maps, slices with one first element and
//     length. So v may contain itself. Not told: slices that overlap in part,
//     pointers into other values, and what is within values that have an encoding
//     of their own, such as a Keyer. What takes no memory is not shared.
//   - Interfaces: the type and value within.
//   - [time.Time]: the instant, and the location: its name and all rules of its
//     zone; not the monotonic clock.
//   - [big.Int], [big.Rat], [big.Float]: the number; for a Float also the
//     precision, rounding mode and accuracy.
//   - Images of package image: bounds and pixels within them (not the stride,
//     nor pixels outside), palette, subsampling. Another image with unexported
//     fields is taken to be its bounds and the colors of its pixels.
//   - A [Keyer]: what its method returns.
//   - A type with fields that nobody can read, and MarshalBinary, GobEncode or
//     MarshalText with their counterparts: what they return, if it brings back
//     the very same value. A value that loses something on the way is refused.
//
// A type is named by its package path and name. Where two functions of a
// package declare types of one name and definition, the second is refused.
//
// The encoding is little-endian: two bytes of format, then the type (one byte,
// or 33 with the SHA-256 of the type's description), then the value, lengths
// first.
func Encode(dst []byte, v any) ([]byte, error) { return encode(dst, v, false) }

// encodeContents is [Encode] without sharing: values of equal contents have equal
// encodings, whichever of their pointers, slices and maps are the same. It names
// what is compared by content, and not what a function is given. Where nothing is
// shared, both give the same; a value that contains itself is refused.
func encodeContents(dst []byte, v any) ([]byte, error) { return encode(dst, v, true) }

func encode(dst []byte, v any, apart bool) ([]byte, error) {
	e := newEncoder(layerValue)
	e.apart = apart
	own, n := e.buf, len(dst)
	e.streams, e.buf = false, append(dst, e.buf...)
	err := e.root(v)
	if err == nil {
		err = e.unmixed()
	}
	dst, e.buf = e.buf, own
	e.free() // not deferred: after a panic of a Keyer, e still holds dst
	if err != nil {
		return dst[:n], err
	}
	return dst, nil
}

// Of returns the digest of what [Encode] appends. Large parts of v are hashed
// where they lie, without a copy.
func Of(v any) (Digest, error) {
	e := newEncoder(layerValue)
	defer e.free()
	err := e.root(v)
	if err == nil {
		err = e.unmixed()
	}
	if err != nil {
		return Digest{}, err
	}
	return e.digest(), nil
}

// root encodes a value that is a part of no other.
func (e *encoder) root(v any) error {
	err := e.value(v)
	if err != nil {
		return within(err, typeName(reflect.TypeOf(v)))
	}
	return nil
}

// typeName is the short name of a type, or what it points to, in paths.
func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// face is how an interface value lies in memory.
type face struct {
	typ  unsafe.Pointer
	data unsafe.Pointer
}

// value encodes the type and the value in v. The path of an error begins inside
// of v.
func (e *encoder) value(v any) error {
	if v == nil {
		e.buf = append(e.buf, 0)
		return nil
	}
	if s, ok := v.(Stream); ok {
		return e.stream(s)
	}
	p, err := planOf(reflect.TypeOf(v))
	if err != nil {
		return err
	}
	e.buf = append(e.buf, p.header...)
	data := (*face)(unsafe.Pointer(&v)).data
	if p.direct {
		word := new(unsafe.Pointer)
		*word = data
		data = unsafe.Pointer(word)
	}
	return p.encode(e, data)
}
