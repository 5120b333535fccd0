//go:build !linux

package executable

// executable is not known on this system.
func executable() (ranges [][2]uintptr, ok bool) { return nil, false }

// File returns "": the system does not tell which file this code was loaded from.
func File() string { return "" }

// Elsewhere returns false: the system does not tell.
func Elsewhere(uintptr) bool { return false }
