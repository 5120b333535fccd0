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

// A file that is being written in place is called ".larder-PID-N", by the
// process that writes it.
const unfinishedMark = ".larder-"

func unfinishedName(n int64) string { return fmt.Sprintf("%s%d-%d", unfinishedMark, os.Getpid(), n) }

// unfinishedBy returns the process that such a file is of.
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

// began is when this process did, at the latest.
var began = time.Now()

// sweep removes a file that a process which is no more has left unfinished: one
// of our kind, and no link. A file of this process' number may be of an earlier
// one, as in containers.
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

// alive reports whether there is a process, or that cannot be told.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
