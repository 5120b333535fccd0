//go:build !linux

package pathguard

// A mount shows a directory of a file system at a path.
type mount struct{ path string }

// mounts returns nil: the mounts of this system are not known.
func mounts() []mount { return nil }

// An overlay shows directories as one; none is known here.
type overlay struct{}

func overlays([]mount) []overlay { return nil }

func (*check) places(real string, _ bool) []string { return []string{real} }

func original(path string, _ []mount) string { return path }
