//go:build unix

package python

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"github.com/larder-data/larder/internal/proc/process"
)

// live starts a process in a process group. The group ends with the process and,
// where the system supports it, with this program. live calls over when the process
// has ended.
func live(cmd *exec.Cmd, over func(how error)) (end, interrupt func(), err error) {
	cmd.SysProcAttr = process.Attributes()
	begun := make(chan error)
	var mu sync.Mutex
	gone := false // afterwards the group ID may be reused
	signal := func(to int, s syscall.Signal) {
		mu.Lock()
		defer mu.Unlock()
		if !gone {
			_ = syscall.Kill(to*cmd.Process.Pid, s)
		}
	}
	end = func() { signal(-1, syscall.SIGKILL) }     // the group
	interrupt = func() { signal(1, syscall.SIGINT) } // the process
	go func() {
		runtime.LockOSThread() // the parent-death signal is bound to the thread that started it
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		begun <- err
		if err != nil {
			return
		}
		left := process.AwaitExit(cmd.Process.Pid)
		mu.Lock()
		if left {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // remaining processes of the group; its ID stays reserved until Wait
		}
		gone = left
		mu.Unlock()
		how := cmd.Wait()
		mu.Lock()
		gone = true
		mu.Unlock()
		over(how)
	}()
	return end, interrupt, <-begun
}
