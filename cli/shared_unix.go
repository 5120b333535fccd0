//go:build unix

package cli

import (
	"os"
	"syscall"
)

// noFollow makes opening a link an error.
const noFollow = syscall.O_NOFOLLOW

// shared reports whether a file has other names (hard links): what is written
// into it is in all of them.
func shared(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && st.Nlink > 1
}
