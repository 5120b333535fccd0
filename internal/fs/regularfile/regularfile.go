// Package regularfile reads regular files with few system calls.
//
// An [os.File] registers with the poller, which regular files do not support. This
// costs five system calls in addition to the one that opens. For small files in a large
// directory, these cost more than all reading.
package regularfile

// State is the state of an open file.
type State struct {
	Regular, Dir bool
	Dev, Ino     uint64 // identity; 0 where the system does not report it
	Size         int64  // bytes
	Mtime, Ctime int64  // nanoseconds since 1970; Ctime is 0 where the system does not report it
}
