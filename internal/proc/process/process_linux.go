package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Attributes returns attributes for a child that starts a process group and ends with
// the thread that started it. So the child ends with this process, however that ends.
// Its own children do not.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// AwaitExit waits until a child has ended without reaping it, so that its PID is not
// reused. It reports whether it could.
func AwaitExit(pid int) bool {
	const byPID = 1
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if err != syscall.EINTR {
			return err == 0
		}
	}
}

// maxPasses bounds the searches for processes. Each search finds fewer, unless they
// fork faster than they are killed.
const maxPasses = 100

// End kills processes in any process group. It kills those whose working directory
// begins with dir, if that is not empty, and those with an environment entry that
// begins with one of variables.
func End(dir string, variables ...string) {
	for range maxPasses {
		if !endFound(dir, variables) {
			return
		}
	}
}

// endFound kills the processes that it finds, and reports whether there were any.
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

// EndLeft kills processes that outlived the process that started them. The value of the
// given environment variable begins with the PID of that process and a dot.
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

// worksIn reports whether the working directory of a process begins with dir. It is
// false after the end of the process.
func worksIn(process, dir string) bool {
	if dir == "" {
		return false
	}
	at, err := os.Readlink(filepath.Join(process, "cwd"))
	return err == nil && strings.HasPrefix(at+"/", dir)
}

// has reports whether a process has one of the variables. It is false after the end of
// the process.
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
