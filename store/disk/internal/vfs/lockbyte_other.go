//go:build !linux

package vfs

import (
	"errors"
	"os"
)

// lockBytes is unsupported here, so leases hold only among the goroutines of one process.
func lockBytes(*os.File, int64, int64) error   { return errors.ErrUnsupported }
func shareByte(*os.File, int64) error          { return errors.ErrUnsupported }
func othersHave(*os.File, int64) (bool, error) { return false, errors.ErrUnsupported }
func unlockBytes(*os.File, int64, int64) error { return nil }
