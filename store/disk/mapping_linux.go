package disk

import "golang.org/x/sys/unix"

// A whole blob is read anyway, to verify it: populate its mapping at once.
const mapFlags = unix.MAP_SHARED | unix.MAP_POPULATE
