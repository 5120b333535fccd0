//go:build !linux

package source

// executable is not known on this system.
func executable() (ranges [][2]uintptr, ok bool) { return nil, false }
