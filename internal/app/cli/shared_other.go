//go:build !unix

package cli

import "os"

const noFollow = 0

// shared cannot tell here.
func shared(os.FileInfo) bool { return false }

// mayAdd cannot tell here.
func mayAdd(string) error { return nil }

// endBy cannot be done here.
func endBy(os.Signal) {}
