//go:build !linux

package guard

// A mount shows a folder of a file system at a path.
type mount struct{ path string }

// mounts lists nothing: the system is not asked.
func mounts() []mount { return nil }

func original(path string, _ []mount) string { return path }
