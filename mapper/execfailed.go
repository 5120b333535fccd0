package mapper

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"

	"github.com/larder-data/larder/internal/text/display"
)

// A commandError is a readable reason for the failure of a command.
type commandError struct {
	text string
	err  error
}

func (e *commandError) Error() string { return e.text }
func (e *commandError) Unwrap() error { return e.err }

// shown returns the command for messages, shortened if long.
func (e *execution) shown() string { return display.Short(strings.Join(e.Command, " ")) }

// whyFailed returns why the command could not run, or how it ended.
func (e *execution) whyFailed(err error) error {
	name := display.Short(e.Command[0])
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &commandError{ended(exit), err}
	}
	if why := notRun(err); why != "" {
		return &commandError{fmt.Sprintf(why, name), err}
	}
	var text string
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		text = fmt.Sprintf("command %q not found; install it, or give a path with a slash, relative to the flow's directory", name)
	case errors.Is(err, fs.ErrPermission):
		text = fmt.Sprintf("%q cannot be executed; check its permissions (chmod +x) and the interpreter on its first line (#!)", name)
	default:
		return err
	}
	return &commandError{text, err}
}
