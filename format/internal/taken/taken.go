// Package taken says that a place is taken.
package taken

import (
	"fmt"
	"io/fs"
)

// existsError is what a sink says of a place that is taken.
type existsError string

func (e existsError) Error() string { return string(e) }

// Is reports that it is fs.ErrExist, of which the text says nothing more.
func (existsError) Is(target error) bool { return target == fs.ErrExist }

// Error is the error of a place that is taken: an fs.ErrExist that says what is there and
// what to do, as fmt.Errorf puts it together.
func Error(format string, args ...any) error { return existsError(fmt.Sprintf(format, args...)) }
