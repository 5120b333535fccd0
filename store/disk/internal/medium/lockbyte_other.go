//go:build !linux

package medium

import (
	"errors"
	"os"
)

// lockBytes hold among the goroutines of one process only.
func lockBytes(*os.File, int64, int64) error   { return errors.ErrUnsupported }
func shareByte(*os.File, int64) error          { return errors.ErrUnsupported }
func othersHave(*os.File, int64) (bool, error) { return false, errors.ErrUnsupported }
func unlockBytes(*os.File, int64, int64) error { return nil }
