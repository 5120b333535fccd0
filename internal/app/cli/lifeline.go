package cli

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// endWith interrupts this program, like Ctrl-C, when the other end of a pipe is
// closed. The program at that end also reads stdout and stderr. So writing to
// them after it has ended must not kill this one early.
func endWith(fd int) error {
	if fd < 3 {
		return usageError{fmt.Errorf("--end-with %d: not an inherited pipe; give the file descriptor of one", fd)}
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
		_ = self.Signal(os.Interrupt) // no process is left to read an error
	}()
	return nil
}
