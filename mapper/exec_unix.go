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

// pipeDelay is how long the end of stderr is waited for when a command and its group
// have ended: a process that left the group may hold it open.
const pipeDelay = 100 * time.Millisecond

// runGroup runs a command and its children in a group of their own, all of which
// ends when the command ends, when its context does and, where the system can do
// that, when this process does.
func runGroup(cmd *exec.Cmd) error {
	runtime.LockOSThread() // what ends with its parent ends with the thread that started it
	defer runtime.UnlockOSThread()
	var mu sync.Mutex
	over := false // then the group's number may be another's soon
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
		_ = end() // the command has ended, but its number is kept until Wait
		mu.Unlock()
	}
	return cmd.Wait()
}

// lockFolder locks a folder of the user's own until the file is closed, or the
// process ends in whatever way.
func lockFolder(dir string) (*os.File, error) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, errLocked // gone, or not ours
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

// isGone reports whether a process has ended; of no process it is not known.
func isGone(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH }
