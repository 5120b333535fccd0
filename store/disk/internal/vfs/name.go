package vfs

import "regexp"

// Names of files that this package creates. Files with other names do not belong to it and
// stay untouched, wherever they are in the directory.
var (
	tempNames       = regexp.MustCompile(`^[0-9a-f]{16}\.([0-9]+|lock)$`)
	asideNames      = regexp.MustCompile(`-[0-9a-f]{16}$`)
	asideBytesNames = regexp.MustCompile(`^[0-9a-f]{16}-[0-9]+\.record$`)
)

// IsTempName reports whether name is that of a file being written.
func IsTempName(name string) bool { return tempNames.MatchString(name) }

// IsAsideName reports whether name is that of a quarantined file.
func IsAsideName(name string) bool {
	return asideNames.MatchString(name) || asideBytesNames.MatchString(name)
}
