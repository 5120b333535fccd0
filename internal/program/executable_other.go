//go:build !linux

package program

// executable is not known on this system.
func executable() (ranges [][2]uintptr, ok bool) { return nil, false }
