package key

import (
	"errors"
	"reflect"
)

// An UnkeyableError says that a value has no canonical encoding, so no result can
// safely be cached for it.
type UnkeyableError struct {
	Path   string       // position of the value: "Options.Models[3].fn"
	Type   reflect.Type // type of the value
	Reason string       // problem
	Fix    string       // fix
	Err    error        // error of a Keyer or BinaryMarshaler, if that is the reason
}

// Error returns path, reason and fix.
func (e *UnkeyableError) Error() string {
	s := e.Path + ": " + e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Unwrap returns Err.
func (e *UnkeyableError) Unwrap() error { return e.Err }

const (
	fixExclude = `implement key.Keyer or exclude it with the tag key:"-"`
	fixKeyer   = "implement key.Keyer"
)

// pathMax bounds the path of a deeply nested value.
const pathMax = 200

// within prepends step to the path of an error.
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
