//go:build !unix

package cli

import "os"

const noFollow = 0

// shared is not supported here.
func shared(os.FileInfo) bool { return false }

// mayAdd is not supported here.
func mayAdd(string) error { return nil }

// endBy is not supported here.
func endBy(os.Signal) {}
