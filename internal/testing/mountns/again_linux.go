package mountns

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// again runs this program again, in a mount namespace of its own.
func again() (status int, ok bool) {
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	runtime.LockOSThread() // the end of another thread would count as that of this process
	defer runtime.UnlockOSThread()
	c := exec.CommandContext(context.Background(), self, os.Args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), inside+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if c.Start() != nil {
		return 0, false
	}
	_ = c.Wait() // the state has the error
	if status = c.ProcessState.ExitCode(); status < 0 {
		status = 1 // ended by a signal
	}
	return status, true
}
