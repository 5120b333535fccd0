// Package taken provides the error of an output path that already exists.
package taken

import (
	"fmt"
	"io/fs"
)

// existsError is the error of a sink for an existing output.
type existsError string

func (e existsError) Error() string { return string(e) }

// Is reports that it is fs.ErrExist, without adding to the message.
func (existsError) Is(target error) bool { return target == fs.ErrExist }

// Error returns an error that is fs.ErrExist, with a message formatted like fmt.Errorf
// that says what exists and what to do.
func Error(format string, args ...any) error { return existsError(fmt.Sprintf(format, args...)) }
