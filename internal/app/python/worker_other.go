//go:build !unix

package python

import "os/exec"

// live starts a process. It calls over when the process has ended.
func live(cmd *exec.Cmd, over func(how error)) (end, interrupt func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	go func() { over(cmd.Wait()) }()
	end = func() { _ = cmd.Process.Kill() }
	return end, end, nil
}
