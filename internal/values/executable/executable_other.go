//go:build !linux

package executable

// executable returns false: the ranges are unknown on this system.
func executable() (ranges [][2]uintptr, ok bool) { return nil, false }

// File returns "": the file is unknown on this system.
func File() string { return "" }

// Elsewhere returns false: the file is unknown on this system.
func Elsewhere(uintptr) bool { return false }
