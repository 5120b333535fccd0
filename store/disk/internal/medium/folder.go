// Package medium is the folder of a store in the file system: what is in it by
// name, who made it, temporary files and their owners, files that appear as a whole
// or not at all, what is set aside, locks, and files that are mapped into memory. It
// knows nothing of what the files hold but the mark that makes a folder a store.
//
// All that is done to files goes through it, so a test can have any of it fail.
package medium

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// A Folder is that of a store.
type Folder struct {
	Dir      string        // an absolute path
	ReadOnly bool          // nothing is written
	Sync     bool          // what was written is safe from a loss of power
	MaxAside int64         // bytes that were set aside and are kept
	Log      *slog.Logger  // takes warnings
	Grown    func(n int64) // is told by how many bytes the folder grew
	Fail     Fail          // nil but in tests
	Bytes    func(n int)   // is told of bytes that were read; nil but in tests

	temps   temps
	reports reports
	aside   aside
}

// A Fail is asked before anything is done to a file, and returns why that is not to
// succeed. Of what is to be written then, half is.
type Fail func(op Op, path string) error

// An Op is what is done to a file.
type Op string

// What may fail.
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

// fails returns why op is not to succeed.
func (f *Folder) fails(op Op, path string) error {
	if f.Fail == nil { // this is inlined
		return nil
	}
	return f.ask(op, path)
}

func (f *Folder) ask(op Op, path string) error {
	if err := f.Fail(op, path); err != nil {
		return &fs.PathError{Op: string(op), Path: path, Err: err}
	}
	return nil
}

// Path is where something in the folder is.
func (f *Folder) Path(names ...string) string {
	path := f.Dir // each miss asks for one: this is a string and no more
	for _, name := range names {
		path += string(filepath.Separator) + name
	}
	return path
}

// IsThere reports whether the folder is one.
func (f *Folder) IsThere() bool {
	info, err := f.Stat(f.Dir)
	return err == nil && info.IsDir()
}

// Stat looks at a file, or at what a link leads to.
func (f *Folder) Stat(path string) (os.FileInfo, error) {
	if err := f.fails(OpStat, path); err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// Lstat looks at a file, or at a link itself.
func (f *Folder) Lstat(path string) (os.FileInfo, error) {
	if err := f.fails(OpStat, path); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// List returns what is in a folder.
func (f *Folder) List(dir string) ([]fs.DirEntry, error) {
	if err := f.fails(OpList, dir); err != nil {
		return nil, err
	}
	return os.ReadDir(dir)
}

// Remove removes a file.
func (f *Folder) Remove(path string) error {
	if err := f.fails(OpRemove, path); err != nil {
		return err
	}
	return os.Remove(path)
}

func (f *Folder) removeAll(path string) error {
	if err := f.fails(OpRemove, path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

func (f *Folder) mkdir(path string) error {
	if err := f.fails(OpMkdir, path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o777)
}

// mkdirAll makes the folder itself, with its parents.
func (f *Folder) mkdirAll() error {
	if f.IsThere() {
		return nil
	}
	if err := f.fails(OpMkdir, f.Dir); err != nil {
		return err
	}
	return os.MkdirAll(f.Dir, 0o777)
}

func (f *Folder) rename(from, to string) error {
	if err := f.fails(OpRename, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// OpenFile is os.OpenFile for what the store itself names.
func (f *Folder) OpenFile(path string, flag int, mode fs.FileMode) (*File, error) {
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

// A File is one of a folder that is open.
type File struct {
	*os.File
	folder *Folder
}

// Read reads on.
func (f *File) Read(b []byte) (int, error) {
	if err := f.folder.fails(OpRead, f.Name()); err != nil {
		return 0, err
	}
	return f.count(f.File.Read(b))
}

// ReadAt reads from an offset.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	if err := f.folder.fails(OpRead, f.Name()); err != nil {
		return 0, err
	}
	return f.count(f.File.ReadAt(b, off))
}

// count passes on what a read returned.
func (f *File) count(n int, err error) (int, error) {
	if f.folder.Bytes != nil {
		f.folder.Bytes(n)
	}
	return n, err
}

// Write writes on.
func (f *File) Write(b []byte) (int, error) {
	if err := f.folder.fails(OpWrite, f.Name()); err != nil {
		n, _ := f.File.Write(b[:len(b)/2]) // a test looks at what is left
		return n, err
	}
	return f.File.Write(b)
}

// WriteAt writes from an offset on.
func (f *File) WriteAt(b []byte, off int64) (int, error) {
	if err := f.folder.fails(OpWrite, f.Name()); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], off) // a test looks at what is left
		return n, err
	}
	return f.File.WriteAt(b, off)
}

// Stat looks at the file.
func (f *File) Stat() (os.FileInfo, error) {
	if err := f.folder.fails(OpStat, f.Name()); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// Truncate cuts the file.
func (f *File) Truncate(size int64) error {
	if err := f.folder.fails(OpTruncate, f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Chmod changes who may do what.
func (f *File) Chmod(mode fs.FileMode) error {
	if err := f.folder.fails(OpChmod, f.Name()); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

// Sync makes what was written safe from a loss of power.
func (f *File) Sync() error {
	if err := f.folder.fails(OpSync, f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}
