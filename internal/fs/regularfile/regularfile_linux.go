package regularfile

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A File is open for reading; the caller closes it. It is not safe for concurrent use.
type File struct {
	fd   int
	path string
}

// Open opens a file of any kind without blocking: a pipe is opened without its other
// end. State reports whether it is a regular file.
func Open(path string) (*File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		switch err {
		case nil:
			return &File{fd, path}, nil
		case unix.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// Name returns the path passed to Open.
func (f *File) Name() string { return f.path }

// State returns the present state of the file.
func (f *File) State() (State, error) {
	var s unix.Stat_t
	if err := unix.Fstat(f.fd, &s); err != nil {
		return State{}, &fs.PathError{Op: "stat", Path: f.path, Err: err}
	}
	kind := s.Mode & unix.S_IFMT
	return State{
		Regular: kind == unix.S_IFREG, Dir: kind == unix.S_IFDIR,
		Dev: uint64(s.Dev), Ino: s.Ino, Size: s.Size, Mtime: s.Mtim.Nano(), Ctime: s.Ctim.Nano(),
	}, nil
}

// maxRead is the most bytes of one read: the system reads at most 2 GiB.
const maxRead = 1 << 30

// Read implements [io.Reader].
func (f *File) Read(p []byte) (int, error) {
	if f.fd < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: os.ErrClosed}
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := unix.Read(f.fd, p[:min(len(p), maxRead)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, &fs.PathError{Op: "read", Path: f.path, Err: err}
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Close closes the file.
func (f *File) Close() error {
	if f.fd < 0 {
		return &fs.PathError{Op: "close", Path: f.path, Err: os.ErrClosed}
	}
	err := unix.Close(f.fd)
	f.fd = -1
	if err != nil {
		return &fs.PathError{Op: "close", Path: f.path, Err: err}
	}
	return nil
}
