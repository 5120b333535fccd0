//go:build !unix

package mapper

import (
	"os"
	"os/exec"
)

// runGroup runs a command. A child of it may outlive it where there are no process
// groups.
func runGroup(cmd *exec.Cmd) error { return cmd.Run() }

// lockFolder locks nothing where folders cannot be locked.
func lockFolder(string) (*os.File, error) { return nil, nil } //nolint:nilnil // there is no lock

func isGone(int) bool { return false } // there is no lock to wait for
