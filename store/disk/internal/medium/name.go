package medium

import "regexp"

// The names that are given here. What has another name is somebody else's and stays
// as it is, wherever in the folder it lies.
var (
	tempNames       = regexp.MustCompile(`^[0-9a-f]{16}\.([0-9]+|lock)$`)
	asideNames      = regexp.MustCompile(`-[0-9a-f]{16}$`)
	asideBytesNames = regexp.MustCompile(`^[0-9a-f]{16}-[0-9]+\.record$`)
)

// IsTempName reports whether a file of that name is being written.
func IsTempName(name string) bool { return tempNames.MatchString(name) }

// IsAsideName reports whether a file of that name was set aside.
func IsAsideName(name string) bool {
	return asideNames.MatchString(name) || asideBytesNames.MatchString(name)
}
