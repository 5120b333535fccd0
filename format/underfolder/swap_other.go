//go:build !linux

package underfolder

import "os"

// swap puts the folder at dir in the place of the one at path.
func swap(dir, path string) error { return swapAside(dir, path) }

// umask is the usual mask of permissions.
func umask() os.FileMode { return 0o022 }
