package codec

import (
	"errors"
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

// An UnencodableError says why values of a type, or one value, cannot be kept
// without loss.
type UnencodableError struct {
	Path string       // from the type asked for to the part at fault: "Result.conn"
	What string       // what the part is: "an unexported field"
	Type reflect.Type // of the part
	Cure string       // what to do about it
	Err  error        // what went wrong, if anything did
}

func (e *UnencodableError) Error() string {
	why := ""
	if e.Err != nil {
		why = ": " + e.Err.Error()
	}
	return fmt.Sprintf("codec: %s: %s of type %v cannot be kept%s; %s", e.Path, e.What, e.Type, why, e.Cure)
}

// Unwrap returns Err.
func (e *UnencodableError) Unwrap() error { return e.Err }

// maxPath bounds the path of an error: a value may be very deep.
const maxPath = 500

// within puts a step in front of the path of an error. Of a long one the
// beginning stays, as it is seen last.
func within(err error, step string) error {
	if e, ok := errors.AsType[*UnencodableError](err); ok {
		if e.Path = step + e.Path; len(e.Path) > maxPath {
			e.Path = e.Path[:maxPath] + "..."
		}
	}
	return err
}

// compiled holds a *Value[T] for each T that was asked for.
var compiled sync.Map // of reflect.Type

// For returns how Ts are kept:
//
//   - []byte and strings as they are, numbers and bools in binary, as
//     "bytes/1", "string/1" and "number/1"
//   - array.Array and *array.Array as "array/1", decoded without a copy
//   - everything else as "cbor/2": CBOR (RFC 8949) written by a plan made once
//     for the type, with all exported fields in their order, whatever their
//     tags say
//
// Restored are: the bits of floats, NaNs too; nil and empty slices and maps;
// embedded structs; the zone of a time with its rules. Pointers, maps and
// slices of one memory are so again, and a value may contain itself. A type
// with fields that nobody can read is kept by MarshalBinary, GobEncode or
// MarshalText and their counterparts, if it has them: each value is read back
// when it is written, and one that comes back different is an error of Encode, or
// one whose memory is not shared in the same way afterwards.
//
// Behind interfaces may be: bools, numbers, strings, types of the standard
// library that are all data (time.Time, time.Duration, json.Number, url.URL,
// big.Int, netip.Addr, images and colors), struct{}, types that were told to [RegisterType],
// and pointers, slices, arrays and maps of all these. A value behind an
// interface that is none of these is an error of Encode.
//
// Not restored: what lies outside of the bounds of an image, the monotonic
// clock reading of a time, the capacity of a slice, and that slices overlap or
// a pointer points into another value without being the same.
//
// A type that would lose something is an [*UnencodableError]: unexported
// fields, functions, channels, interfaces that no known type implements.
func For[T any]() (*Value[T], error) {
	t := reflect.TypeFor[T]()
	found, ok := compiled.Load(t)
	if !ok {
		found = compile[T](t)
		if err, failed := found.(error); failed {
			return nil, err // not remembered: types may yet be registered
		}
		found, _ = compiled.LoadOrStore(t, found)
	}
	return found.(*Value[T]), nil
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
		if t.Elem().Kind() == reflect.Uint8 {
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
