//go:build unix

package process

import "golang.org/x/sys/unix"

// Most is how large it can become.
func (m *SharedMemory) Most() int64 { return int64(len(m.Bytes)) }

// Close lets go of it here. Who else has it mapped keeps it.
func (m *SharedMemory) Close() {
	_ = unix.Munmap(m.Bytes)
	_ = m.File.Close()
}

// Size is how large it is by now, whoever made it so.
func (m *SharedMemory) Size() (int64, error) {
	info, err := m.File.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
