// Package vfs implements the directory of a store in the file system. It names the
// files, marks the directory as a store, writes files atomically, removes temporary files
// of dead writers, quarantines damaged files, locks files, and maps them into memory. The
// only content it interprets is the mark that makes a directory a store.
//
// All file operations go through this package, so a test can make any of them fail.
package vfs

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// A Directory is the directory of a store.
type Directory struct {
	Dir      string        // an absolute path
	ReadOnly bool          // nothing is written
	Sync     bool          // writes survive a power loss
	MaxAside int64         // limit of the quarantine, bytes
	Log      *slog.Logger  // receives warnings
	Grown    func(n int64) // called with the number of bytes by which the directory grew
	Fail     Fail          // nil except in tests
	Bytes    func(n int)   // called with the number of bytes read; nil except in tests

	temps   temps
	reports reports
	aside   aside
}

// A Fail is called before any file operation, and returns an error to make it fail. A write
// that fails writes half of its bytes.
type Fail func(op Op, path string) error

// An Op is a file operation.
type Op string

// The operations that a Fail can make fail.
const (
	OpOpen     Op = "open"
	OpCreate   Op = "create"
	OpRead     Op = "read"
	OpSeek     Op = "seek"
	OpWrite    Op = "write"
	OpTruncate Op = "truncate"
	OpSync     Op = "sync"
	OpChmod    Op = "chmod"
	OpLock     Op = "lock"
	OpMap      Op = "map"
	OpStat     Op = "stat"
	OpList     Op = "list"
	OpMkdir    Op = "mkdir"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
)

// fails returns why op should fail.
func (f *Directory) fails(op Op, path string) error {
	if f.Fail == nil { // inlined
		return nil
	}
	return f.ask(op, path)
}

func (f *Directory) ask(op Op, path string) error {
	if err := f.Fail(op, path); err != nil {
		return &fs.PathError{Op: string(op), Path: path, Err: err}
	}
	return nil
}

// Path returns the path of a name in the directory.
func (f *Directory) Path(names ...string) string {
	path := f.Dir // each miss calls it: this allocates one string only
	for _, name := range names {
		path += string(filepath.Separator) + name
	}
	return path
}

// IsThere reports whether the directory exists.
func (f *Directory) IsThere() bool {
	info, err := f.Stat(f.Dir)
	return err == nil && info.IsDir()
}

// Stat describes a file and follows links.
func (f *Directory) Stat(path string) (os.FileInfo, error) {
	if err := f.fails(OpStat, path); err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// Lstat describes a file, or a link itself.
func (f *Directory) Lstat(path string) (os.FileInfo, error) {
	if err := f.fails(OpStat, path); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// List returns the entries of a directory.
func (f *Directory) List(dir string) ([]fs.DirEntry, error) {
	if err := f.fails(OpList, dir); err != nil {
		return nil, err
	}
	return os.ReadDir(dir)
}

// Remove removes a file.
func (f *Directory) Remove(path string) error {
	if err := f.fails(OpRemove, path); err != nil {
		return err
	}
	return os.Remove(path)
}

func (f *Directory) removeAll(path string) error {
	if err := f.fails(OpRemove, path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

func (f *Directory) mkdir(path string) error {
	if err := f.fails(OpMkdir, path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o777)
}

// mkdirAll creates the directory itself, with its parents.
func (f *Directory) mkdirAll() error {
	if f.IsThere() {
		return nil
	}
	if err := f.fails(OpMkdir, f.Dir); err != nil {
		return err
	}
	return os.MkdirAll(f.Dir, 0o777)
}

func (f *Directory) rename(from, to string) error {
	if err := f.fails(OpRename, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// OpenFile is os.OpenFile for names of the store.
func (f *Directory) OpenFile(path string, flag int, mode fs.FileMode) (*File, error) {
	op := OpOpen
	if flag&os.O_CREATE != 0 {
		op = OpCreate
	}
	if err := f.fails(op, path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	return &File{file, f}, nil
}

// A File is an open file of a Directory.
type File struct {
	*os.File
	directory *Directory
}

// Read reads at the current position.
func (f *File) Read(b []byte) (int, error) {
	if err := f.directory.fails(OpRead, f.Name()); err != nil {
		return 0, err
	}
	return f.count(f.File.Read(b))
}

// ReadAt reads at an offset.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	if err := f.directory.fails(OpRead, f.Name()); err != nil {
		return 0, err
	}
	return f.count(f.File.ReadAt(b, off))
}

// count reports n to Bytes and returns its arguments.
func (f *File) count(n int, err error) (int, error) {
	if f.directory.Bytes != nil {
		f.directory.Bytes(n)
	}
	return n, err
}

// Write writes at the current position.
func (f *File) Write(b []byte) (int, error) {
	if err := f.directory.fails(OpWrite, f.Name()); err != nil {
		n, _ := f.File.Write(b[:len(b)/2]) // a test checks what is left
		return n, err
	}
	return f.File.Write(b)
}

// WriteAt writes at an offset.
func (f *File) WriteAt(b []byte, off int64) (int, error) {
	if err := f.directory.fails(OpWrite, f.Name()); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], off) // a test checks what is left
		return n, err
	}
	return f.File.WriteAt(b, off)
}

// Stat describes the file.
func (f *File) Stat() (os.FileInfo, error) {
	if err := f.directory.fails(OpStat, f.Name()); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// Truncate truncates the file.
func (f *File) Truncate(size int64) error {
	if err := f.directory.fails(OpTruncate, f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Chmod changes the permissions of the file.
func (f *File) Chmod(mode fs.FileMode) error {
	if err := f.directory.fails(OpChmod, f.Name()); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

// Sync makes the writes survive a power loss.
func (f *File) Sync() error {
	if err := f.directory.fails(OpSync, f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}
