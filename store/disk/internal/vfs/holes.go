package vfs

import (
	"fmt"
	"io"
	"math"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// A file may be long and hold no data: a crash, or extending it by truncation, leaves a
// hole, which reads as zeros.

// nowhere is the offset after the last data.
const nowhere = math.MaxInt64

// Data returns the first offset from off on that has data: what is before it is a hole. If
// the system does not report holes, it returns off.
func (f *File) Data(off int64) int64 {
	if f.directory.fails(OpSeek, f.Name()) != nil {
		return off
	}
	return dataAt(f.File, off)
}

// hole returns the first offset from off on without data. The end of a file is a hole, too.
func (f *File) hole(off int64) int64 {
	if f.directory.fails(OpSeek, f.Name()) != nil {
		return nowhere
	}
	return holeAt(f.File, off)
}

// checkHoles reports damage if a file of size bytes has a hole that a sound file does not
// have.
func (f *File) checkHoles(size int64) error {
	for from := f.hole(0); from < size; {
		to := min(f.Data(from), size)
		if to-from >= format.MaxZeros {
			return fmt.Errorf("%w: a hole from byte %d to %d", format.ErrDamaged, from, to)
		}
		from = f.hole(max(to, from+1))
	}
	return nil
}

// dataBetween reads at most limit bytes between two offsets. It skips a hole at the start
// and stops before a piece of zeros.
func (f *File) dataBetween(from, to, limit int64) ([]byte, error) {
	from = min(f.Data(from), to)
	return readPieces(io.NewSectionReader(f, from, to-from), min(to-from, limit))
}
