//go:build unix

package process

import "golang.org/x/sys/unix"

// Most returns the maximum size.
func (m *SharedMemory) Most() int64 { return int64(len(m.Bytes)) }

// Close releases the memory in this process; other processes keep it.
func (m *SharedMemory) Close() {
	_ = unix.Munmap(m.Bytes)
	_ = m.File.Close()
}

// Size returns the current size, which other processes may have changed.
func (m *SharedMemory) Size() (int64, error) {
	info, err := m.File.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
