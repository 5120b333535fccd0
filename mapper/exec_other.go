//go:build !unix

package mapper

import (
	"os"
	"os/exec"
)

// runGroup runs a command. Without process groups, a child of it may outlive it.
func runGroup(cmd *exec.Cmd) error { return cmd.Run() }

// lockDir does nothing where directories cannot be locked.
func lockDir(string) (*os.File, error) { return nil, nil } //nolint:nilnil // there is no lock

func isGone(int) bool { return false } // there is no lock to wait for
