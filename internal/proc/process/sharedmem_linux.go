package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A SharedMemory is a file of memory, mapped as far as it may ever grow.
type SharedMemory struct {
	File  *os.File
	Bytes []byte // of which only what the file has may be touched
}

// reserved is how much address space is mapped for a file: what it can have at most.
const reserved = int64(1) << (29 + 5*(strconv.IntSize/64)) // 16 GiB, or 512 MiB where addresses have 32 bits

// NewSharedMemory makes memory of no size.
func NewSharedMemory() (*SharedMemory, error) {
	fd, err := unix.MemfdCreate("larder", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	m := &SharedMemory{File: os.NewFile(uintptr(fd), "larder")}
	// Whoever else has the file could end us by cutting it short.
	if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err == nil {
		m.Bytes, err = unix.Mmap(fd, 0, int(reserved), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	}
	if err != nil {
		_ = m.File.Close()
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	return m, nil
}

// Grow makes the file as large, and has the system give the memory now: what is written
// where there is none would end the program.
func (m *SharedMemory) Grow(from, to int64) error {
	for {
		if err := unix.Fallocate(int(m.File.Fd()), 0, from, to-from); err != unix.EINTR {
			return err
		}
	}
}

// Shrink gives the memory of what lies beyond so many bytes back to the system. The file
// stays as large, and is zeros there.
func (m *SharedMemory) Shrink(from, to int64) {
	if to > from {
		_ = unix.Fallocate(int(m.File.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
	}
}
