//go:build unix && !linux

package disk

import "golang.org/x/sys/unix"

const mapFlags = unix.MAP_SHARED
