//go:build !unix

package mapper

import "os/exec"

func ended(exit *exec.ExitError) string { return exit.Error() }

func notRun(error) string { return "" }
