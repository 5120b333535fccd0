//go:build unix && !linux

package mapper

import "syscall"

func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit does not wait where a child cannot be left to be waited for.
func awaitExit(int) bool { return false }
