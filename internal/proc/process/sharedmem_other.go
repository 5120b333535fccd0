//go:build unix && !linux

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
	f, err := os.CreateTemp("", "larder-memory-")
	if err != nil {
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	m := &SharedMemory{File: f}
	if err = os.Remove(f.Name()); err == nil {
		m.Bytes, err = unix.Mmap(int(f.Fd()), 0, int(reserved), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	return m, nil
}

// Grow extends the file.
func (m *SharedMemory) Grow(_, to int64) error { return m.File.Truncate(to) }

// Shrink does nothing.
func (m *SharedMemory) Shrink(_, _ int64) {}
