//go:build !linux

package vfs

import (
	"errors"
	"os"
	"sync/atomic"
)

func mapWords(*os.File, int) ([]atomic.Uint64, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
