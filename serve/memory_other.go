//go:build unix && !linux

package serve

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A sharedMemory is a file without a name, mapped as far as it may ever grow.
type sharedMemory struct {
	file  *os.File
	bytes []byte // of which only what the file has may be touched
}

// reserved is how much address space is mapped for a file: what it can have at most.
const reserved = int64(1) << (29 + 5*(strconv.IntSize/64)) // 16 GiB, or 512 MiB where addresses have 32 bits

func newMemory() (*sharedMemory, error) {
	f, err := os.CreateTemp("", "larder-ring-")
	if err != nil {
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	m := &sharedMemory{file: f}
	if err = os.Remove(f.Name()); err == nil {
		m.bytes, err = unix.Mmap(int(f.Fd()), 0, int(reserved), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	return m, nil
}

// grow makes the file as large.
func (m *sharedMemory) grow(_, to int64) error { return m.file.Truncate(to) }
