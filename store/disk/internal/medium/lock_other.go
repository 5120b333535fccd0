//go:build !unix

package medium

import (
	"errors"
	"os"
)

// tryLock cannot lock here. Each process then begins a pack of its own and
// never adopts one.
func tryLock(*os.File) error { return errors.ErrUnsupported }
