//go:build unix && !linux

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

// Grow makes the file as large.
func (m *SharedMemory) Grow(_, to int64) error { return m.File.Truncate(to) }

// Shrink does nothing.
func (m *SharedMemory) Shrink(_, _ int64) {}
