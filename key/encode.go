package key

import (
	"reflect"
	"unsafe"
)

// A Keyer encodes itself for keys. AppendKey appends bytes to dst that are the same for
// two values exactly if they are equal, and returns the result. The caller puts type
// and length in front. AppendKey may be called on a zero value and concurrently. It
// must not change its receiver or retain dst.
//
// A struct whose AppendKey is promoted from an embedded field is encoded field by field
// instead, because the promoted method does not cover the other fields.
type Keyer interface {
	AppendKey(dst []byte) ([]byte, error)
}

// Encode appends the canonical encoding of v to dst. Equal values of equal types have
// equal encodings, and all others different ones. A value without such an encoding
// gives an [*UnkeyableError] and dst unchanged. Such values are functions, channels,
// addresses, structs with unexported fields, maps that their own keys refer to, and
// values nested deeper than 10 000 levels. The same applies to values that contain one
// of these.
//
// Details of equality:
//
//   - Types: a named type differs from its underlying type. A changed type (a field
//     added, renamed, of another type) is another type. A field with the tag
//     `key:"-"` and a blank field (_) do not count.
//   - Floats: their bits. NaNs of different bits are different, as are 0.0 and
//     -0.0, because a function may distinguish them.
//   - Slices and maps: nil differs from empty; capacity and the order of
//     a map's entries do not matter. A map with two keys of equal content
//     (NaNs, pointers to equal values) is refused.
//   - Pointers: nil, or the value pointed to; not the address.
//   - Sharing: which pointers, slices and maps within v are the same: pointers
//     to one variable, maps, slices with one first element and length. So v may
//     contain itself. Not detected: slices that overlap in part, pointers into
//     other values, and sharing within values that encode themselves, such as a
//     Keyer. Values without memory are not shared.
//   - Interfaces: the type and value within.
//   - [time.Time]: the instant, and the location: its name and all rules of its
//     zone; not the monotonic clock.
//   - [big.Int], [big.Rat], [big.Float]: the number; for a Float also the
//     precision, rounding mode and accuracy.
//   - Images of package image: bounds and the pixels within them (not the stride,
//     nor pixels outside), palette, subsampling. Another image with unexported
//     fields counts as its bounds and the colors of its pixels.
//   - A [Keyer]: the result of its method.
//   - A type with unreadable fields, and MarshalBinary, GobEncode or MarshalText
//     with their counterparts: the result of the method, if decoding it returns
//     the very same value. A value that loses something is refused.
//
// A type is identified by its package path and name. If two functions of a package
// declare types with the same name and definition, Encode refuses the second type.
//
// The encoding is little-endian: two bytes of format, then the type (one byte, or 33
// with the SHA-256 of the type's description), then the value, lengths first.
func Encode(dst []byte, v any) ([]byte, error) { return encode(dst, v, false) }

// encodeContents is [Encode] without sharing: values of equal contents have equal
// encodings, even if different pointers, slices and maps in them are the same. It is
// for comparison by content, not for arguments of functions. Without sharing both give
// the same result. encodeContents refuses a value that contains itself.
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

// Of returns the digest of what [Encode] appends. It hashes large parts of v in place.
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

// root encodes a value that is not part of another.
func (e *encoder) root(v any) error {
	err := e.value(v)
	if err != nil {
		return within(err, typeName(reflect.TypeOf(v)))
	}
	return nil
}

// typeName returns the short name of a type, or of its element if it is a pointer.
func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// face is the layout of an interface value in memory.
type face struct {
	typ  unsafe.Pointer
	data unsafe.Pointer
}

// value encodes the type and the value in v. The path of an error begins inside v.
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
