//go:build !unix

package vfs

import (
	"errors"
	"os"
)

// tryLock is unsupported here. Each process then starts its own pack and never adopts one.
func tryLock(*os.File) error { return errors.ErrUnsupported }
