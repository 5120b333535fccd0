//go:build !linux

package underfolder

import (
	"io"
	"os"
)

// swap puts the folder at dir in the place of the one at path.
func swap(dir, path string) error { return swapAside(dir, path) }

const canLock = false

// lockFolder cannot tell whether another process uses a folder.
func lockFolder(dir string) (io.Closer, error) { return os.Open(dir) }

// umask is the usual mask of permissions.
func umask() os.FileMode { return 0o022 }
