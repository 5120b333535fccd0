//go:build !linux

package pathguard

// A mount shows a folder of a file system at a path.
type mount struct{ path string }

// mounts lists nothing: the system is not asked.
func mounts() []mount { return nil }

// An overlay shows folders as one; none is known here.
type overlay struct{}

func overlays([]mount) []overlay { return nil }

func (*check) places(real string, _ bool) []string { return []string{real} }

func original(path string, _ []mount) string { return path }
