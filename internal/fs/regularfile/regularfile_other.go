//go:build !linux

package regularfile

import "os"

// A File is open for reading; the caller closes it.
type File struct{ *os.File }

// Open opens a file.
func Open(path string) (*File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrInvalid} // opening it may block
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// State returns the present state of the file.
func (f *File) State() (State, error) {
	info, err := f.Stat()
	if err != nil {
		return State{}, err
	}
	return State{Regular: info.Mode().IsRegular(), Dir: info.IsDir(), Size: info.Size(), Mtime: info.ModTime().UnixNano()}, nil
}
