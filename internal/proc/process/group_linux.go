package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Attributes has a program begin a group, and end with the thread that started it, and so
// with this process, however that ends. Its children do not.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// AwaitExit waits until a child has ended, and leaves it to be waited for: so its number
// stays its own. It reports whether it could.
func AwaitExit(pid int) bool {
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

// End ends the processes that work in a folder of which the path begins with dir, if that
// is not empty, or that have a variable in their environment which begins with one of
// those given, whatever group they are in.
func End(dir string, variables ...string) {
	for range maxPasses {
		if !endFound(dir, variables) {
			return
		}
	}
}

// endFound ends the processes that it finds, and reports whether there were any.
func endFound(dir string, variables []string) (found bool) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false
	}
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil || pid == os.Getpid() || !worksIn(name, dir) && !has(name, variables) {
			continue
		}
		found = true
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	return found
}

// EndLeft ends the processes that were given a variable whose value begins with the number of
// a process, and a dot, and outlived that process.
func EndLeft(variable string) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return
	}
	for _, name := range names {
		environ, err := os.ReadFile(filepath.Join(name, "environ"))
		if err != nil {
			continue
		}
		_, value, given := bytes.Cut(append([]byte{0}, environ...), []byte("\x00"+variable+"="))
		of, _, _ := bytes.Cut(value, []byte("."))
		by, aerr := strconv.Atoi(string(of))
		pid, perr := strconv.Atoi(filepath.Base(name))
		if given && aerr == nil && perr == nil && by > 0 && syscall.Kill(by, 0) == syscall.ESRCH {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// worksIn reports whether a process works in a folder. What has ended works nowhere.
func worksIn(process, dir string) bool {
	if dir == "" {
		return false
	}
	at, err := os.Readlink(filepath.Join(process, "cwd"))
	return err == nil && strings.HasPrefix(at+"/", dir)
}

// has reports whether a process was given one of some variables. What has ended has none.
func has(process string, variables []string) bool {
	environ, err := os.ReadFile(filepath.Join(process, "environ"))
	if err != nil {
		return false
	}
	environ = append([]byte{0}, environ...)
	for _, v := range variables {
		if bytes.Contains(environ, []byte("\x00"+v)) {
			return true
		}
	}
	return false
}
