package codec

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/larder-data/larder/array"
)

// A Value encodes and decodes Ts. What Decode returns equals what Encode received. Its
// functions may be called from many goroutines.
type Value[T any] struct {
	// ID names the encoding and its version.
	ID string
	// Type is a fingerprint of the ID and of T: its package, its name, and the structure of
	// all types it reaches. Records of another Type are not decoded.
	Type uint64
	// Encode appends the encoding of v to dst. Equal values have equal
	// encodings.
	Encode func(dst []byte, v T) ([]byte, error)
	// Decode reads exactly what one Encode appended. It does not change b.
	Decode func(b []byte) (T, error)
	// Aliases reports that decoded values refer to b, which must stay valid and unchanged
	// while they are used.
	Aliases bool
	// Plain reports that a T contains nothing that one holder could change for others: only
	// numbers, strings, and structs and arrays of those.
	Plain bool
}

// An UnencodableError explains why a type or value cannot be encoded without loss.
type UnencodableError struct {
	Path string       // from the requested type to the faulty part: "Result.conn"
	What string       // description of the part: "an unexported field"
	Type reflect.Type // of the part
	Fix  string       // what to do about it
	Err  error        // the underlying error, if any
}

func (e *UnencodableError) Error() string {
	why := ""
	if e.Err != nil {
		why = ": " + e.Err.Error()
	}
	return fmt.Sprintf("codec: %s: %s of type %v cannot be cached%s; %s", e.Path, e.What, e.Type, why, e.Fix)
}

// Unwrap returns Err.
func (e *UnencodableError) Unwrap() error { return e.Err }

// maxPath bounds the path in an error, because values may be very deep.
const maxPath = 500

// within prepends a step to the path of an error. It truncates the end of a long path.
func within(err error, step string) error {
	if e, ok := errors.AsType[*UnencodableError](err); ok {
		if e.Path = step + e.Path; len(e.Path) > maxPath {
			e.Path = e.Path[:maxPath] + "..."
		}
	}
	return err
}

// compiled holds a *Value[T] for each requested T.
var compiled sync.Map // by reflect.Type

// For returns the Value of T. It encodes:
//
//   - []byte and strings unchanged, numbers and bools in binary, as
//     "bytes/1", "string/1" and "number/1"
//   - array.Array and *array.Array as "array/1", decoded without a copy
//   - everything else as "cbor/2": CBOR (RFC 8949) written by a plan made once
//     for the type, with all exported fields in their order; tags are ignored
//
// It restores: the bits of floats, including NaNs; nil and empty slices and maps; embedded
// structs; the zone of a time with its rules. Pointers, maps and slices that share memory
// share it again, and a value may contain itself.
//
// A type with inaccessible fields is encoded by MarshalBinary, GobEncode or MarshalText and
// decoded by their counterparts, if it has them. Encode reads each value back. It returns
// an error if the result differs, or if its memory is not shared in the same way.
//
// Interfaces may contain bools, numbers, strings, struct{}, types passed to [RegisterType],
// and standard library types that are only data. The latter are time.Time, time.Duration,
// json.Number, url.URL, big.Int, netip.Addr, images and colors. Interfaces may also contain
// pointers, slices, arrays and maps of all these. Encode returns an error for other values
// in interfaces.
//
// It does not restore: pixels outside the bounds of an image, the monotonic clock reading
// of a time, the capacity of a slice, overlapping slices, and pointers into other values.
//
// For returns an [*UnencodableError] for types that would lose something: unexported
// fields, functions, channels, interfaces that no known type implements.
func For[T any]() (*Value[T], error) {
	t := reflect.TypeFor[T]()
	found, ok := compiled.Load(t)
	if !ok {
		found = compile[T](t)
		if err, failed := found.(error); failed {
			return nil, err // not cached: types may be registered later
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
