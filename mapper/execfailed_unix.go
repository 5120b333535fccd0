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
	if status.Signal() == syscall.SIGKILL {
		return fmt.Sprintf("ended by a signal (%s), which often means that memory ran out", status.Signal())
	}
	return fmt.Sprintf("ended by a signal (%s)", status.Signal())
}

// notRun returns why the system did not run a command, with %q for its name; "" if
// unknown.
func notRun(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "%q is not a program for this machine; begin a script with a line such as #!/bin/sh"
	case errors.Is(err, syscall.E2BIG):
		return "the arguments of %q are too long for the system; put them into a file"
	case errors.Is(err, syscall.EISDIR):
		return "%q is a directory, not a command"
	case errors.Is(err, syscall.EINVAL):
		return "the arguments of %q have a NUL character; remove it"
	}
	return ""
}
