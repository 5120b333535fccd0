//go:build !linux

package regularfile

import "os"

// Mask is the usual mask of permissions.
func Mask() os.FileMode { return 0o022 }
