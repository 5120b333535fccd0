package cli

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// readers lists the files open for writing in programs whose standard input is
// one of these pipes, such as tee, or in chains of such filters. Other readers
// of a pipe, such as the parent of this program, may write to any file.
func readers(pipes []fs.FileInfo) (files ownLogs) {
	if !slices.ContainsFunc(pipes, isPipe) {
		return nil
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	seen := map[string]bool{filepath.Join("/proc", strconv.Itoa(os.Getpid())): true}
	for len(pipes) > 0 {
		var next []fs.FileInfo
		for _, p := range processes {
			in, err := os.Stat(p + "/fd/0")
			if seen[p] || err != nil || !slices.ContainsFunc(pipes, func(pipe fs.FileInfo) bool { return isPipe(pipe) && os.SameFile(in, pipe) }) {
				continue
			}
			seen[p] = true
			to := writtenBy(p)
			files, next = append(files, onlyFiles(to)...), append(next, to...)
		}
		pipes = next
	}
	return files
}

func isPipe(info fs.FileInfo) bool { return info.Mode()&fs.ModeNamedPipe != 0 }

// writtenBy lists the files that a process, given by its directory in /proc,
// has open for writing.
func writtenBy(process string) (all []fs.FileInfo) {
	open, _ := os.ReadDir(process + "/fd")
	for _, fd := range open {
		info, err := os.Stat(filepath.Join(process, "fd", fd.Name()))
		if err == nil && openForWriting(filepath.Join(process, "fdinfo", fd.Name())) {
			all = append(all, info)
		}
	}
	return all
}

// openForWriting checks the flags of an open file, which are octal.
func openForWriting(fdinfo string) bool {
	content, _ := os.ReadFile(fdinfo)
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "flags:"); ok {
			flags, err := strconv.ParseInt(strings.TrimSpace(text), 8, 64)
			return err == nil && flags&syscall.O_ACCMODE != syscall.O_RDONLY
		}
	}
	return false
}
