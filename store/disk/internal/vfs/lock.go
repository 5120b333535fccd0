package vfs

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrLocked reports that another process or open file has the lock.
var ErrLocked = errors.New("locked by another process")

// TryLock locks a file exclusively for this open file, or returns ErrLocked, or
// errors.ErrUnsupported on systems without such locks. The lock ends when the file is
// closed or the process dies.
func (f *File) TryLock() error {
	if err := f.directory.fails(OpLock, f.Name()); err != nil {
		return err
	}
	return tryLock(f.File)
}

// LockByte is TryLock of one byte. UnlockByte ends it.
func (f *File) LockByte(at int64) error { return f.LockBytes(at, 1) }

// LockBytes is TryLock of n bytes. UnlockRange ends it.
func (f *File) LockBytes(at, n int64) error {
	if err := f.directory.fails(OpLock, f.Name()); err != nil {
		return err
	}
	return lockBytes(f.File, at, n)
}

// ShareByte locks one byte for this open file and others that share it.
func (f *File) ShareByte(at int64) error {
	if err := f.directory.fails(OpLock, f.Name()); err != nil {
		return err
	}
	return shareByte(f.File, at)
}

// OthersHave reports whether another open file has a lock on a byte, exclusive or shared.
func (f *File) OthersHave(at int64) (bool, error) {
	if err := f.directory.fails(OpLock, f.Name()); err != nil {
		return false, err
	}
	return othersHave(f.File, at)
}

// UnlockByte ends LockByte. It fails only if the file was closed.
func (f *File) UnlockByte(at int64) error { return unlockBytes(f.File, at, 1) }

// UnlockRange ends the locks of LockBytes and LockByte on n bytes. It fails only if the
// file was closed.
func (f *File) UnlockRange(at, n int64) error { return unlockBytes(f.File, at, n) }

// UnlockBytes ends every LockByte. It fails only if the file was closed.
func (f *File) UnlockBytes() error { return unlockBytes(f.File, 0, 0) }

// OpenLock opens or creates an empty lock file.
func (f *Directory) OpenLock(name string) (*File, error) {
	path := f.Path(name)
	if info, err := f.Lstat(path); err == nil && !info.Mode().IsRegular() {
		f.obstacle(path)
	}
	return f.OpenIn(path, os.O_RDWR|os.O_CREATE)
}

// OpenIn creates a file, and its directories if they were deleted.
func (f *Directory) OpenIn(path string, flag int) (*File, error) {
	file, err := f.OpenFile(path, flag, 0o666)
	if IsObstructed(err) {
		if err = f.LayOut(); err == nil {
			file, err = f.OpenFile(path, flag, 0o666)
		}
	}
	return file, err
}

// FirstPause and lastPause are the first and the longest pause between tries.
const (
	FirstPause = 200 * time.Microsecond
	lastPause  = 20 * time.Millisecond
)

// Retry calls try until it returns something other than ErrLocked, or ctx ends. It waits
// without a thread.
func Retry(ctx context.Context, try func() error) error {
	for pause := FirstPause; ; pause = min(2*pause, lastPause) {
		if err := try(); !errors.Is(err, ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
