//go:build unix

package python

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"github.com/larder-data/larder/internal/proc/process"
)

// live starts a process in a group of its own, all of which ends when the process ends
// or is ended, and, where the system can do that, when this program does. over is called
// when it has ended.
func live(cmd *exec.Cmd, over func(how error)) (end, interrupt func(), err error) {
	cmd.SysProcAttr = process.Attributes()
	begun := make(chan error)
	var mu sync.Mutex
	gone := false // then the group's number may be another's soon
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
		runtime.LockOSThread() // what ends with its parent ends with the thread that started it
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		begun <- err
		if err != nil {
			return
		}
		left := process.AwaitExit(cmd.Process.Pid)
		mu.Lock()
		if left {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // those that it left; its number is kept until Wait
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
