//go:build unix

package mapper

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// ended describes how a command failed.
func ended(exit *exec.ExitError) string {
	status, ok := exit.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return exit.Error()
	}
	text := fmt.Sprintf("it was ended by a signal, %s", status.Signal())
	if status.Signal() == syscall.SIGKILL {
		text += ", as it happens when memory is short"
	}
	return text
}

// notRun returns why the system did not run a command, with %q for its name; "" if
// unknown.
func notRun(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "%q is no program for this machine: a script must begin with a line such as #!/bin/sh"
	case errors.Is(err, syscall.E2BIG):
		return "the words of %q are too long for the system: put them into a file and name that"
	case errors.Is(err, syscall.EISDIR):
		return "%q is a folder, and no command"
	case errors.Is(err, syscall.EINVAL):
		return "%q has a character in its words that no command can have"
	}
	return ""
}
