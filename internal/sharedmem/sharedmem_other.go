//go:build unix && !linux

package sharedmem

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Memory is a file of memory, mapped as far as it may ever grow.
type Memory struct {
	File  *os.File
	Bytes []byte // of which only what the file has may be touched
}

// reserved is how much address space is mapped for a file: what it can have at most.
const reserved = int64(1) << (29 + 5*(strconv.IntSize/64)) // 16 GiB, or 512 MiB where addresses have 32 bits

// New makes memory of no size.
func New() (*Memory, error) {
	f, err := os.CreateTemp("", "larder-memory-")
	if err != nil {
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	m := &Memory{File: f}
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
func (m *Memory) Grow(_, to int64) error { return m.File.Truncate(to) }

// Shrink does nothing.
func (m *Memory) Shrink(_, _ int64) {}
