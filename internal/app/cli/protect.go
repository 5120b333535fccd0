package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// reading lists what a command reads: a flow, which may be nil, the files of
// its variables, and files of the command. Each file has its name on the
// command line and its path. It refuses a cache directory that equals, contains
// or lies in any of these; afterwards the cache counts as an input.
func (a *app) reading(ctx context.Context, fl *flow.Flow, set variables, files ...pathguard.Input) (*pathguard.Inputs, error) {
	in := &pathguard.Inputs{}
	if fl != nil {
		in.Add(fl.Inputs()...)
	}
	for _, file := range set.files {
		in.Add(pathguard.Input{Owner: "--vars", Path: file})
	}
	for _, file := range files {
		if file.Path != "" && file.Path != "-" {
			in.Add(file)
		}
	}
	dir, err := a.directory()
	if err != nil {
		return nil, usageError{err}
	}
	if err := in.Check(ctx, pathguard.Output{Owner: "the cache", Path: dir, Shallow: true}); err != nil {
		return nil, usageError{err}
	}
	in.Add(pathguard.Input{Owner: "the cache", Path: dir, Shallow: true})
	return in, nil
}

// protect refuses outputs that are inputs, and outputs that equal or contain
// each other or an output of a flow. outputs have the names of their flags. An
// empty path needs no protection, nor does an existing special file such as a
// terminal.
func protect(ctx context.Context, in *pathguard.Inputs, written []pathguard.Output, outputs ...pathguard.Output) error {
	all := slices.Clone(written)
	for _, o := range outputs {
		if urlpath.Is(o.Path) {
			return usageError{fmt.Errorf("%s %s: it is written to a file of this machine only", o.Owner, urlpath.Name(o.Path))}
		}
		if o.Path != "" && o.Path != "-" && !isDevice(o.Path) {
			all = append(all, o)
		}
	}
	err := pathguard.CheckDisjoint(all...)
	if err == nil {
		err = in.Check(ctx, all...)
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// protectFile refuses to write a file that is an input or cannot be written.
func protectFile(ctx context.Context, in *pathguard.Inputs, flag, path string) error {
	file := pathguard.Output{Owner: flag, Path: path}
	if err := protect(ctx, in, nil, file); err != nil {
		return err
	}
	return checkWritable(nil, file)
}

// isDevice reports whether a path leads to a special file, or names an open
// file such as /dev/stdout.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return false
	}
	return !info.Mode().IsRegular() || openFile.MatchString(filepath.Clean(path))
}

// openFile matches the names of open files.
var openFile = regexp.MustCompile(`^/dev/(std(in|out|err)|fd/[0-9]+)$|^/proc/[a-z0-9-]+/fd/[0-9]+$`)
