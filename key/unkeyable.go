package key

import (
	"errors"
	"reflect"
)

// An UnkeyableError says that a value has no canonical encoding, so that no
// result can safely be kept under its name.
type UnkeyableError struct {
	Path   string       // where the value is: "Options.Models[3].fn"
	Type   reflect.Type // its type
	Reason string       // what is wrong with it
	Cure   string       // what to do about it
	Err    error        // the error of a Keyer or BinaryMarshaler, if that is the reason
}

// Error returns path, reason and cure.
func (e *UnkeyableError) Error() string {
	s := e.Path + ": " + e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Cure != "" {
		s += "; " + e.Cure
	}
	return s
}

// Unwrap returns Err.
func (e *UnkeyableError) Unwrap() error { return e.Err }

const (
	cureExclude = `implement key.Keyer or exclude it with the tag key:"-"`
	cureKeyer   = "implement key.Keyer"
)

// pathMax bounds the path of a value at the end of a long chain.
const pathMax = 200

// within says that the value is a part of another, at the given step.
func within(err error, step string) error {
	var u *UnkeyableError
	if !errors.As(err, &u) {
		return err
	}
	u.Path = step + u.Path
	if len(u.Path) > pathMax {
		u.Path = u.Path[:pathMax] + "..."
	}
	return err
}
