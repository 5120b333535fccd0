//go:build unix

package mapper

import (
	"os/exec"
	"syscall"
	"time"
)

// ownGroup puts a command and its children into a group of their own, so that
// all of them end when the run is stopped.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
}
