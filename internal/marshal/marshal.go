// Package marshal lets types turn themselves into bytes and back, and believes
// them only as far as they bring back what they were given.
package marshal

import (
	"encoding"
	"encoding/gob"
	"errors"
	"fmt"
	"reflect"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// ErrLossy is wrapped by the error for a value that did not come back as it was.
var ErrLossy = errors.New("does not come back as it was")

// A Method is how the values of one type turn themselves into bytes and back.
// It may be used by many goroutines as far as the type's own methods may.
type Method struct {
	Name   string // of the method that makes the bytes
	typ    reflect.Type
	encode func(at any) ([]byte, error)
	decode func(at any, b []byte) error
}

// Each ability comes in a pair: to turn into bytes, and back.
var (
	binary = Ability{reflect.TypeFor[encoding.BinaryMarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("MarshalBinary")
	}}
	unbinary = Ability{reflect.TypeFor[encoding.BinaryUnmarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("UnmarshalBinary")
	}}
	gobs = Ability{reflect.TypeFor[gob.GobEncoder](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("GobEncode")
	}}
	ungobs = Ability{reflect.TypeFor[gob.GobDecoder](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("GobDecode")
	}}
	text = Ability{reflect.TypeFor[encoding.TextMarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("MarshalText")
	}}
	untext = Ability{reflect.TypeFor[encoding.TextUnmarshaler](), func(t reflect.Type) (reflect.Method, bool) {
		return t.MethodByName("UnmarshalText")
	}}
)

// Of returns the method of values of type t, by MarshalBinary, GobEncode or
// MarshalText and their counterparts, in this order; ok is false if it has
// none. They may be declared on t or on pointers to it.
func Of(t reflect.Type) (m Method, ok bool) {
	switch {
	case binary.Declared(t) && unbinary.Declared(t):
		return Method{"MarshalBinary", t,
			func(at any) ([]byte, error) { return at.(encoding.BinaryMarshaler).MarshalBinary() },
			func(at any, b []byte) error { return at.(encoding.BinaryUnmarshaler).UnmarshalBinary(b) }}, true
	case gobs.Declared(t) && ungobs.Declared(t):
		return Method{"GobEncode", t,
			func(at any) ([]byte, error) { return at.(gob.GobEncoder).GobEncode() },
			func(at any, b []byte) error { return at.(gob.GobDecoder).GobDecode(b) }}, true
	case text.Declared(t) && untext.Declared(t):
		return Method{"MarshalText", t,
			func(at any) ([]byte, error) { return at.(encoding.TextMarshaler).MarshalText() },
			func(at any, b []byte) error { return at.(encoding.TextUnmarshaler).UnmarshalText(b) }}, true
	}
	return m, false
}

// Bytes returns the bytes of the value that at points to, if they make the same
// value again: so no two values have the same bytes. A panic of the type's
// methods is an error.
func (m Method) Bytes(at reflect.Value) ([]byte, error) {
	b, _, err := m.compared(at, &deepequal.Sharing{})
	return b, err
}

// BytesShared is Bytes for values that are kept: what shares memory within the
// value has to do so again. What the value refers to is noted in all.
func (m Method) BytesShared(at reflect.Value, all *deepequal.Sharing) ([]byte, error) {
	var own deepequal.Sharing
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

func (m Method) compared(at reflect.Value, shared *deepequal.Sharing) (b []byte, again reflect.Value, err error) {
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

func (m Method) bytes(at reflect.Value) (b []byte, err error) {
	defer m.protect(&err)
	b, err = m.encode(at.Interface())
	return append([]byte{}, b...), err // it may be memory of the value
}

// Value makes the value of b where at, a pointer to a zero value, points.
func (m Method) Value(at reflect.Value, b []byte) (err error) {
	defer m.protect(&err)
	return m.decode(at.Interface(), append([]byte{}, b...)) // which it may keep
}

func (m Method) protect(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s of %v, or its counterpart, panics: %v", m.Name, m.typ, r)
	}
}
