package display

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Error returns the human-readable text of an error. For a failed system call it names
// the problem of the file instead of the call.
func Error(err error) string {
	text := err.Error()
	for _, e := range ofFiles(err) {
		text = strings.ReplaceAll(text, e.Error(), ofFile(e))
	}
	return Printable(text)
}

// ofFiles returns the errors within err that come from system calls on files.
func ofFiles(err error) []error {
	switch e := err.(type) { //nolint:errorlint // all of the tree are checked, one by one
	case nil:
		return nil
	case *fs.PathError, *os.LinkError:
		return []error{err}
	case interface{ Unwrap() []error }:
		var all []error
		for _, in := range e.Unwrap() {
			all = append(all, ofFiles(in)...)
		}
		return all
	}
	return ofFiles(errors.Unwrap(err))
}

func ofFile(err error) (text string) {
	var op, path string
	defer func() { text = temporary.ReplaceAllString(text, "$1") }()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		op, path = e.Op, e.Path
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		op, path = e.Op, e.New
		if errors.Is(err, fs.ErrNotExist) {
			path = e.Old
		}
	}
	if errors.Is(err, fs.ErrNotExist) && !isDir(filepath.Dir(path)) {
		return "no directory " + Name(filepath.Dir(path)) // also for a file to be created
	}
	if errors.Is(err, fs.ErrNotExist) && op == "mkdir" {
		return Name(path) + " cannot be made there"
	}
	if errors.Is(err, fs.ErrExist) && isDir(path) && op == "rename" {
		return Name(path) + " is a directory, not a file"
	}
	return why(Name(path), err)
}

// temporary matches the temporary name of a file that is renamed when complete.
var temporary = regexp.MustCompile(`\.([^/\\]+)\.larder-\d+`)

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func why(path string, err error) string {
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return fmt.Sprintf(c.say, path)
		}
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return path + ": " + err.Error()
}

type cause struct {
	err error
	say string // %s is the path
}
