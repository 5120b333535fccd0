package deepequal

import (
	"encoding"
	"encoding/gob"
	"errors"
	"fmt"
	"reflect"
)

// ErrLossy is wrapped by the error for a value that a round trip changes.
var ErrLossy = errors.New("does not come back as it was")

// A Marshaler encodes and decodes the values of one type by the type's own methods. Its
// results are trusted only as far as a round trip returns an equal value. It may be used by
// many goroutines if the type's methods may.
type Marshaler struct {
	Name   string // of the method that makes the bytes
	typ    reflect.Type
	encode func(at any) ([]byte, error)
	decode func(at any, b []byte) error
}

// The abilities come in pairs: to encode, and to decode.
var (
	toBinary = Ability{reflect.TypeFor[encoding.BinaryMarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("MarshalBinary")
	}}
	fromBinary = Ability{reflect.TypeFor[encoding.BinaryUnmarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("UnmarshalBinary")
	}}
	toGob = Ability{reflect.TypeFor[gob.GobEncoder](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("GobEncode")
	}}
	fromGob = Ability{reflect.TypeFor[gob.GobDecoder](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("GobDecode")
	}}
	toText = Ability{reflect.TypeFor[encoding.TextMarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("MarshalText")
	}}
	fromText = Ability{reflect.TypeFor[encoding.TextUnmarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("UnmarshalText")
	}}
)

// MarshalerOf returns the marshaler of values of type t, by MarshalBinary, GobEncode or
// MarshalText and their counterparts, in this order; ok is false if t has none. They may be
// declared on t or on pointers to it.
func MarshalerOf(t reflect.Type) (m Marshaler, ok bool) {
	switch {
	case toBinary.Declared(t) && fromBinary.Declared(t):
		return Marshaler{"MarshalBinary", t,
			func(at any) ([]byte, error) { return at.(encoding.BinaryMarshaler).MarshalBinary() },
			func(at any, b []byte) error { return at.(encoding.BinaryUnmarshaler).UnmarshalBinary(b) }}, true
	case toGob.Declared(t) && fromGob.Declared(t):
		return Marshaler{"GobEncode", t,
			func(at any) ([]byte, error) { return at.(gob.GobEncoder).GobEncode() },
			func(at any, b []byte) error { return at.(gob.GobDecoder).GobDecode(b) }}, true
	case toText.Declared(t) && fromText.Declared(t):
		return Marshaler{"MarshalText", t,
			func(at any) ([]byte, error) { return at.(encoding.TextMarshaler).MarshalText() },
			func(at any, b []byte) error { return at.(encoding.TextUnmarshaler).UnmarshalText(b) }}, true
	}
	return m, false
}

// Bytes returns the bytes of the value that at points to, if they make the same
// value again: so no two values have the same bytes. A panic of the type's
// methods is an error.
func (m Marshaler) Bytes(at reflect.Value) ([]byte, error) {
	b, _, err := m.compared(at, &Sharing{})
	return b, err
}

// BytesShared is Bytes for values that are stored: what shares memory within the
// value has to do so again. What the value refers to is noted in all.
func (m Marshaler) BytesShared(at reflect.Value, all *Sharing) ([]byte, error) {
	var own Sharing
	b, again, err := m.compared(at, &own)
	if err != nil {
		return nil, err
	}
	all.Add(&own)
	own.Note(at.UnsafePointer(), again.UnsafePointer(), m.typ.Size())
	if own.Lost() {
		return nil, fmt.Errorf("by its %s it %w: parts that are one part of memory are two, or otherwise", m.Name, ErrLossy)
	}
	return b, nil
}

func (m Marshaler) compared(at reflect.Value, shared *Sharing) (b []byte, again reflect.Value, err error) {
	if b, err = m.bytes(at); err != nil {
		return nil, again, err
	}
	again = reflect.New(m.typ)
	if err := m.Value(again, b); err != nil {
		return nil, again, fmt.Errorf("%w: %w", ErrLossy, err)
	}
	if path, same := shared.Compare(at, again); !same {
		return nil, again, fmt.Errorf("by its %s it %w: another %v%s", m.Name, ErrLossy, m.typ, path)
	}
	return b, again, nil
}

func (m Marshaler) bytes(at reflect.Value) (b []byte, err error) {
	defer m.protect(&err)
	b, err = m.encode(at.Interface())
	return append([]byte{}, b...), err // it may be memory of the value
}

// Value makes the value of b where at, a pointer to a zero value, points.
func (m Marshaler) Value(at reflect.Value, b []byte) (err error) {
	defer m.protect(&err)
	return m.decode(at.Interface(), append([]byte{}, b...)) // which it may keep
}

func (m Marshaler) protect(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s of %v, or its counterpart, panics: %v", m.Name, m.typ, r)
	}
}
