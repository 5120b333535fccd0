//go:build (darwin || windows) && (amd64 || arm64) && !larder_static

package native

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// load loads the library in the directory of the program, and no other one. Its path is absolute, so no
// search path counts.
func load(file string) (handle uintptr, contents func(function uintptr) ([]byte, error), err error) {
	path, err := inProgramDir(file)
	if err != nil {
		return 0, nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return 0, nil, err
	}
	before, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	if handle, err = loadPath(path); err != nil {
		return 0, nil, errors.Join(err, before.Close())
	}
	return handle, func(function uintptr) ([]byte, error) {
		defer before.Close()
		return loaded(before, handle, function)
	}, nil
}

// loaded returns the content of a file that was opened before a library was loaded, if the
// library is from this file.
func loaded(before *os.File, handle, function uintptr) ([]byte, error) {
	path, err := pathOf(handle, function)
	if err != nil {
		return nil, err
	}
	after, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info, err := before.Stat(); err != nil || !os.SameFile(info, after) {
		return nil, errors.New("the file was replaced while it was loaded")
	}
	return io.ReadAll(before)
}
