//go:build unix

package sharedmem

import "golang.org/x/sys/unix"

// Most is how large it can become.
func (m *Memory) Most() int64 { return int64(len(m.Bytes)) }

// Close lets go of it here. Who else has it mapped keeps it.
func (m *Memory) Close() {
	_ = unix.Munmap(m.Bytes)
	_ = m.File.Close()
}

// Size is how large it is by now, whoever made it so.
func (m *Memory) Size() (int64, error) {
	info, err := m.File.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
