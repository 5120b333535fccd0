//go:build unix

package cli

import (
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// noFollow makes opening a link an error.
const noFollow = syscall.O_NOFOLLOW

// shared reports whether a file has other names (hard links), under which its
// content would change as well.
func shared(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && st.Nlink > 1
}

// mayAdd checks whether files can be created in a directory.
func mayAdd(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "access", Path: dir, Err: err}
	}
	return nil
}

// endBy ends the program like an unhandled signal.
func endBy(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		signal.Reset(s)
		_ = syscall.Kill(os.Getpid(), number)
		<-time.After(time.Second) // the signal has arrived by then
	}
}
