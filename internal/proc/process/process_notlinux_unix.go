//go:build unix && !linux

package process

import "syscall"

// Attributes returns attributes for a child that starts a process group.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// AwaitExit returns false: it cannot wait without reaping.
func AwaitExit(int) bool { return false }
