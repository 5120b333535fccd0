//go:build unix

package server

import (
	"io"
	"os"
	"syscall"
)

// eagerTries is the number of non-blocking reads after a reply before the goroutine
// sleeps, some 20 µs. A client with consecutive requests sends the next one sooner,
// and waking up takes longer, especially on a virtual machine.
const eagerTries = 40

// An eagerReader reads a connection. After hasten its next read polls before it
// blocks.
type eagerReader struct {
	file *os.File
	raw  syscall.RawConn
	fast bool
}

func newEagerReader(file *os.File) (*eagerReader, error) {
	raw, err := file.SyscallConn()
	return &eagerReader{file: file, raw: raw}, err
}

func (r *eagerReader) hasten() { r.fast = true }

// Read implements io.Reader.
func (r *eagerReader) Read(p []byte) (n int, err error) {
	if !r.fast {
		return r.file.Read(p)
	}
	r.fast = false
	tries := eagerTries
	if rerr := r.raw.Read(func(fd uintptr) bool {
		for ; tries > 0; tries-- {
			n, err = syscall.Read(int(fd), p)
			if err != syscall.EAGAIN && err != syscall.EINTR {
				return true
			}
		}
		tries, n, err = 1, 0, nil
		return false
	}); rerr != nil {
		return r.file.Read(p) // it returns any error
	}
	switch {
	case err != nil:
		return 0, &os.PathError{Op: "read", Path: r.file.Name(), Err: err}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}
