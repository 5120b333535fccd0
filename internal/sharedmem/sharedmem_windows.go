package sharedmem

import (
	"errors"
	"os"
)

// A Memory cannot be had here.
type Memory struct {
	File  *os.File
	Bytes []byte
}

// New returns an error.
func New() (*Memory, error) {
	return nil, errors.New("memory cannot be shared with other programs on Windows")
}

// Grow does nothing.
func (m *Memory) Grow(_, _ int64) error { return nil }

// Most is 0.
func (m *Memory) Most() int64 { return 0 }

// Size is 0.
func (m *Memory) Size() (int64, error) { return 0, nil }

// Close does nothing.
func (m *Memory) Close() {}

// Shrink does nothing.
func (m *Memory) Shrink(_, _ int64) {}
