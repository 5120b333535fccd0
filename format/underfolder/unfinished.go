package underfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A file that is written in place is named ".larder-PID-N", with the ID of the writing
// process.
const unfinishedMark = ".larder-"

func unfinishedName(n int64) string { return fmt.Sprintf("%s%d-%d", unfinishedMark, os.Getpid(), n) }

// unfinishedBy returns the process that writes such a file.
func unfinishedBy(name string) (pid int, ok bool) {
	numbers, ok := strings.CutPrefix(name, unfinishedMark)
	process, n, dash := strings.Cut(numbers, "-")
	pid, err := strconv.Atoi(process)
	_, isN := parseIndex(n)
	return pid, ok && dash && isN && err == nil && pid > 0 && process == strconv.Itoa(pid)
}

func isUnfinished(name string) bool {
	_, ok := unfinishedBy(name)
	return ok
}

// began is the start time of this process, at the latest.
var began = time.Now()

// sweep removes a regular file of this kind that a dead process left. A file with the ID
// of this process may be of an earlier one, as in containers.
func sweep(dir string, e fs.DirEntry) {
	pid, ok := unfinishedBy(e.Name())
	if !ok || !e.Type().IsRegular() || alive(pid) && pid != os.Getpid() {
		return
	}
	info, err := e.Info()
	if err == nil && (pid != os.Getpid() || info.ModTime().Before(began)) {
		os.Remove(filepath.Join(dir, e.Name()))
	}
}

// alive reports whether a process exists, or whether that is unknown.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
