package mapper

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// groupAttributes has a command end with this process, however that ends. Its
// children do not: they are found by their folder.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit waits until a child has ended, and leaves it to be waited for.
func awaitExit(pid int) bool {
	const byPID = 1
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if err != syscall.EINTR {
			return err == 0
		}
	}
}

// maxPasses bounds how often processes are looked for again: each look finds fewer,
// unless they fork faster than they are ended.
const maxPasses = 100

// endProcesses ends the processes that were given a folder of which the path begins
// so, as their environment says, or that work in one, whatever group they are in.
func endProcesses(prefix string) {
	for range maxPasses {
		if !endFound(prefix) {
			return
		}
	}
}

// endFound ends the processes that it finds, and reports whether there were any.
func endFound(prefix string) (found bool) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false
	}
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil || pid == os.Getpid() || !uses(name, prefix) {
			continue
		}
		found = true
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	return found
}

// uses reports whether a process was given such a folder, or works in it. What has
// ended has neither.
func uses(process, prefix string) bool {
	if dir, err := os.Readlink(filepath.Join(process, "cwd")); err == nil && strings.HasPrefix(dir+"/", prefix) {
		return true
	}
	environ, err := os.ReadFile(filepath.Join(process, "environ"))
	environ = append([]byte{0}, environ...)
	return err == nil && (bytes.Contains(environ, []byte("\x00LARDER_OUT="+prefix)) || bytes.Contains(environ, []byte("\x00LARDER_BATCH="+prefix)))
}
