package cli

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// endWith interrupts this program, as Ctrl-C does, when the other end of a pipe is closed. The
// program that has that end reads stdout and stderr as well: when it has ended, writing to them
// must not end this one before it is done.
func endWith(fd int) error {
	if fd < 3 {
		return usageError{fmt.Errorf("--end-with %d: not an inherited pipe; give the number of one", fd)}
	}
	pipe := os.NewFile(uintptr(fd), "--end-with")
	if _, err := pipe.Stat(); err != nil {
		return usageError{err}
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return failure{err}
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		_ = self.Signal(os.Interrupt) // no process is left that could read an error
	}()
	return nil
}
