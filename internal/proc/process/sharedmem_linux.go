package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A SharedMemory is memory that several processes map: a file without a name, whose
// descriptor another process receives. It is mapped at its maximum size.
type SharedMemory struct {
	File  *os.File
	Bytes []byte // only the part within the size of the file may be accessed
}

// reserved is the address space mapped for a file, and its maximum size.
const reserved = int64(1) << (29 + 5*(strconv.IntSize/64)) // 16 GiB, or 512 MiB where addresses have 32 bits

// NewSharedMemory returns memory of size 0.
func NewSharedMemory() (*SharedMemory, error) {
	fd, err := unix.MemfdCreate("larder", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	m := &SharedMemory{File: os.NewFile(uintptr(fd), "larder")}
	// Another process that shortens the file could end this one.
	if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err == nil {
		m.Bytes, err = unix.Mmap(fd, 0, int(reserved), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	}
	if err != nil {
		_ = m.File.Close()
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	return m, nil
}

// Grow extends the file and allocates its memory: a write to memory that the system lacks
// would end the program.
func (m *SharedMemory) Grow(from, to int64) error {
	for {
		if err := unix.Fallocate(int(m.File.Fd()), 0, from, to-from); err != unix.EINTR {
			return err
		}
	}
}

// Shrink returns the memory between two offsets to the system. The file keeps its size and
// reads as zeros there.
func (m *SharedMemory) Shrink(from, to int64) {
	if to > from {
		_ = unix.Fallocate(int(m.File.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
	}
}
