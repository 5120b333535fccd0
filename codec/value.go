package codec

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/larder-data/larder/array"
)

// A Value says how Ts are kept. What Decode returns equals what Encode was
// given. Its functions may be called from many goroutines.
type Value[T any] struct {
	// ID names the encoding and its version.
	ID string
	// Type is a fingerprint of the ID and of T: its package, its name, and
	// the structure of everything it reaches. Records of another Type are
	// not decoded.
	Type uint64
	// Encode appends the encoding of v to dst. Equal values have equal
	// encodings.
	Encode func(dst []byte, v T) ([]byte, error)
	// Decode reads exactly what one Encode appended. It does not change b.
	Decode func(b []byte) (T, error)
	// Aliases says that decoded values refer to b, which must stay valid
	// and unchanged as long as they are used.
	Aliases bool
	// Plain says that a T holds nothing that one holder could change for
	// others: numbers, strings, and structs and arrays of those.
	Plain bool
}

// An UnencodableError says why values of a type cannot be kept without loss.
type UnencodableError struct {
	Path string       // from the type asked for to the part at fault: "Result.conn"
	What string       // what the part is: "unexported field"
	Type reflect.Type // of the part
	Cure string       // what to do about it
}

func (e *UnencodableError) Error() string {
	return fmt.Sprintf("codec: %s: %s of type %v cannot be kept; %s", e.Path, e.What, e.Type, e.Cure)
}

// compiled holds a *Value[T], or the error, for each T that was asked for.
var compiled sync.Map // of reflect.Type

// For returns how Ts are kept:
//
//   - []byte and strings as they are, numbers and bools in binary, as
//     "bytes/1", "string/1" and "number/1"
//   - array.Array and *array.Array as "array/1", decoded without a copy
//   - everything else as "cbor/1": CBOR (RFC 8949) written by a plan made once
//     for the type, with all exported fields in their order, whatever their
//     tags say
//
// Restored are: the bits of floats, nil and empty slices and maps, pointers to
// pointers, time zones, embedded structs, and types that implement
// encoding.BinaryMarshaler and BinaryUnmarshaler, or gob.GobEncoder and
// GobDecoder, by themselves. Interfaces are restored where the set of types
// behind them is known: image.Image and color.Color of the standard library,
// and any holding nil, bools, numbers, strings, []byte, []any and
// map[string]any. A value behind an interface that is none of these is an
// error of Encode.
//
// Not restored: what lies outside of the bounds of an image, the monotonic
// clock reading of a time, and whether two pointers or slices share memory.
//
// A type that would lose something is an [*UnencodableError]: unexported
// fields, functions, channels, other interfaces. Values that contain
// themselves are an error of Encode.
func For[T any]() (*Value[T], error) {
	t := reflect.TypeFor[T]()
	found, ok := compiled.Load(t)
	if !ok {
		found, _ = compiled.LoadOrStore(t, compile[T](t))
	}
	if v, ok := found.(*Value[T]); ok {
		return v, nil
	}
	return nil, found.(error)
}

// compile returns a *Value[T] or an error.
func compile[T any](t reflect.Type) any {
	switch t.Kind() {
	case reflect.String:
		return stringValue[T](t)
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return numberValue[T](t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !marshalsItself(t) {
			return bytesValue[T](t)
		}
	}
	switch t {
	case reflect.TypeFor[array.Array]():
		return arrayValue
	case reflect.TypeFor[*array.Array]():
		return arrayPointerValue
	}
	v, err := cborValue[T](t)
	if err != nil {
		return err
	}
	return v
}
