package cli

import (
	"io/fs"
	"os"
	"slices"
)

// ownLogs are files that receive the output of the program. A change of them is
// not a reason to run again, wherever they are.
type ownLogs []fs.FileInfo

// has reports whether a file is one of them.
func (l ownLogs) has(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && slices.ContainsFunc(l, func(log fs.FileInfo) bool { return os.SameFile(info, log) })
}

// streams returns the files of stdout and stderr.
func streams() (all []fs.FileInfo) {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// printedTo finds the files that receive the output of the program, directly or
// through programs that read it.
func printedTo() ownLogs {
	to := streams()
	return append(onlyFiles(to), readers(to)...)
}

func onlyFiles(all []fs.FileInfo) (files ownLogs) {
	for _, info := range all {
		if info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	return files
}
