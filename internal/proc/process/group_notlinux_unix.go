//go:build unix && !linux

package process

import "syscall"

// Attributes has a program begin a group.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// AwaitExit does not wait where a child cannot be left to be waited for.
func AwaitExit(int) bool { return false }
