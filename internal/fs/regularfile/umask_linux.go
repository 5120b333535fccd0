package regularfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Mask returns the file mode creation mask of the process.
func Mask() os.FileMode { return os.FileMode(mask) }

// mask is read once, because reading it sets it for a moment.
var mask = func() int {
	m := unix.Umask(0o077)
	unix.Umask(m)
	return m
}()
