package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/display"
)

// checkWritable refuses outputs that could not be written at the end, before
// anything starts: a file in a missing directory, or one with the name of a
// directory. Directories that the run creates count as existing. An output
// without a path is not written. Standard output takes one output.
func checkWritable(made []pathguard.Output, outputs ...pathguard.Output) error {
	stdout := ""
	for _, o := range outputs {
		var err error
		switch {
		case o.Path == "":
		case isStdout(o):
			if stdout != "" {
				err = fmt.Errorf("%s and %s both write to standard output; name a file for one", stdout, o.Owner)
			}
			stdout = o.Owner
		case isDevice(o.Path):
		default:
			if err = mayWrite(o, made); err != nil {
				err = fmt.Errorf("%s %s: %w", o.Owner, display.Name(o.Path), err)
			}
		}
		if err != nil {
			return usageError{err}
		}
	}
	return nil
}

// isStdout reports whether an output is standard output. For a directory, - is
// an ordinary name.
func isStdout(o pathguard.Output) bool {
	if o.Path == "-" {
		return !o.Files
	}
	switch filepath.Clean(o.Path) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	}
	return false
}

// mayWrite checks whether a file, or a directory for files, can be written.
func mayWrite(o pathguard.Output, made []pathguard.Output) error {
	path := pathguard.Resolve(o.Path)
	info, err := os.Lstat(path)
	switch {
	case err == nil && o.Files && info.IsDir():
		return mayAdd(path)
	case err == nil && o.Files:
		return errors.New("is a file, not a directory")
	case err == nil && info.IsDir():
		return errors.New("is a directory, not a file")
	case !o.Files && os.IsPathSeparator(o.Path[len(o.Path)-1]):
		return errors.New("the path ends in /; name a file")
	}
	dir := filepath.Dir(path)
	info, err = os.Stat(dir)
	comes := o.Files || slices.ContainsFunc(made, func(m pathguard.Output) bool { return m.Path != "" && pathguard.Inside(dir, m.Place()) })
	for comes && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no directory %s", display.Name(dir))
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file, not a directory", display.Name(dir))
	}
	return mayAdd(dir)
}
