package process

import (
	"errors"
	"os"
)

// A SharedMemory does not exist on Windows.
type SharedMemory struct {
	File  *os.File
	Bytes []byte
}

// NewSharedMemory returns an error.
func NewSharedMemory() (*SharedMemory, error) {
	return nil, errors.New("memory cannot be shared with other programs on Windows")
}

// Grow does nothing.
func (m *SharedMemory) Grow(_, _ int64) error { return nil }

// Most is 0.
func (m *SharedMemory) Most() int64 { return 0 }

// Size is 0.
func (m *SharedMemory) Size() (int64, error) { return 0, nil }

// Close does nothing.
func (m *SharedMemory) Close() {}

// Shrink does nothing.
func (m *SharedMemory) Shrink(_, _ int64) {}
