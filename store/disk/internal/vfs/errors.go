package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
)

// ErrStray reports a file of another kind at a path of the store.
var ErrStray = fmt.Errorf("%w: unexpected file type", format.ErrDamaged)

// IsObstructed reports whether a file or directory on the path of a file is missing or not
// a directory.
func IsObstructed(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isReadOnly(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// StoreError adds the sentinel error that callers of a store check for.
func StoreError(err error) error {
	switch {
	case err == nil || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrReadOnly):
		return err
	case isFull(err):
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case isReadOnly(err):
		return fmt.Errorf("%w: %w", store.ErrReadOnly, err)
	}
	return err
}
