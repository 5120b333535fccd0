//go:build unix

package mapper

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/larder-data/larder/internal/proc/process"
)

// pipeDelay is how long to wait for the end of stderr after a command and its group
// have ended. A process that left the group may hold it open.
const pipeDelay = 100 * time.Millisecond

// runGroup runs a command and its children in a process group. The group ends when the
// command or its context ends and, where the system supports it, when this process
// ends.
func runGroup(cmd *exec.Cmd) error {
	runtime.LockOSThread() // the parent-death signal is bound to the thread that started it
	defer runtime.UnlockOSThread()
	var mu sync.Mutex
	over := false // afterwards the group ID may be reused
	end := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.SysProcAttr = process.Attributes()
	cmd.WaitDelay = pipeDelay
	cmd.Cancel = func() error {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return os.ErrProcessDone
		}
		return end()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if process.AwaitExit(cmd.Process.Pid) {
		mu.Lock()
		over = true
		_ = end() // the command has ended, but its PID stays reserved until Wait
		mu.Unlock()
	}
	return cmd.Wait()
}

// lockDir locks a directory of the user until the file is closed, or the process
// ends in any way.
func lockDir(dir string) (*os.File, error) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, errLocked // removed, or another user's
	}
	f := os.NewFile(uintptr(fd), dir)
	var st syscall.Stat_t
	if err = syscall.Fstat(fd, &st); err == nil {
		err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
	}
	named, nerr := os.Lstat(dir)
	locked, lerr := f.Stat()
	switch {
	case err == nil && nerr == nil && lerr == nil && int(st.Uid) == os.Getuid() && os.SameFile(named, locked):
		return f, nil
	case err == nil || err == syscall.EWOULDBLOCK:
		err = errLocked
	}
	_ = f.Close() // nothing was written
	return nil, err
}

// isGone reports whether a process has ended. It is false for unknown PIDs.
func isGone(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH }
