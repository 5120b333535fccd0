//go:build !linux

package process

// End does nothing: the system does not tell which processes to end.
func End(string, ...string) {}

// EndLeft does nothing.
func EndLeft(string) {}
