//go:build !linux

package regularfile

import "os"

// Mask returns the usual file mode creation mask.
func Mask() os.FileMode { return 0o022 }
