// Package regularfile reads regular files with as few calls of the system as that takes.
//
// An [os.File] is made ready for waiting, which no regular file can do: that is tried
// and taken back in five calls beside the one that opens. Of small files in a folder of
// many these cost more than all reading.
package regularfile

// State is what the system says of a file that is open.
type State struct {
	Regular, Folder bool
	Dev, Ino        uint64 // where the file is; 0 where the system does not say
	Size            int64  // bytes
	Mtime, Ctime    int64  // nanoseconds since 1970; Ctime is 0 where the system does not say
}
