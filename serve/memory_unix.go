//go:build unix

package serve

import "golang.org/x/sys/unix"

func (m *sharedMemory) most() int64 { return int64(len(m.bytes)) }

func (m *sharedMemory) close() {
	_ = unix.Munmap(m.bytes)
	_ = m.file.Close()
}
