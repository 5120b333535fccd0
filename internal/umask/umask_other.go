//go:build !linux

package umask

import "os"

// Mask is the usual mask of permissions.
func Mask() os.FileMode { return 0o022 }
