//go:build !unix

package disk

import (
	"errors"
	"os"
)

var errLocked = errors.New("locked by another process")

// tryLock cannot lock here. Each process then begins a pack of its own and
// never adopts one.
func tryLock(*os.File) error { return errors.ErrUnsupported }
