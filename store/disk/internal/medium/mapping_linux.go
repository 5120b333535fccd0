package medium

import "golang.org/x/sys/unix"

// mapWhole has all pages of a mapping there at once.
const mapWhole = unix.MAP_POPULATE
