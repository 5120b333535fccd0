package vfs

import "golang.org/x/sys/unix"

// mapWhole loads all pages of a mapping immediately.
const mapWhole = unix.MAP_POPULATE
