package regularfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Mask returns the process's mask of permissions.
func Mask() os.FileMode { return os.FileMode(mask) }

// mask is read once: reading it means setting it for a moment.
var mask = func() int {
	m := unix.Umask(0o077)
	unix.Umask(m)
	return m
}()
