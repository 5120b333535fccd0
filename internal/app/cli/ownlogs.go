package cli

import (
	"io/fs"
	"os"
	"slices"
)

// ownLogs are files that hold what the program prints: a log of it is no reason to run
// again, wherever it lies.
type ownLogs []fs.FileInfo

// has reports whether a file is one of them.
func (l ownLogs) has(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && slices.ContainsFunc(l, func(log fs.FileInfo) bool { return os.SameFile(info, log) })
}

// streams are what the program prints to.
func streams() (all []fs.FileInfo) {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// printedTo finds the files that the program prints to, by itself or by way of the
// programs that read what it prints.
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
