package medium

import (
	"fmt"
	"io"
	"math"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// A file may claim any length and hold nothing: a crash, or whoever cuts it to more than it
// has, leaves a hole, which reads as zeros.

// nowhere is where there is no data any more.
const nowhere = math.MaxInt64

// Data returns where there is data in a file, from an offset on: what is before is a hole.
// Where the system does not tell, it is the offset.
func (f *File) Data(off int64) int64 {
	if f.folder.fails(OpSeek, f.Name()) != nil {
		return off
	}
	return dataAt(f.File, off)
}

// hole returns where there is none. The end of a file is a hole, too.
func (f *File) hole(off int64) int64 {
	if f.folder.fails(OpSeek, f.Name()) != nil {
		return nowhere
	}
	return holeAt(f.File, off)
}

// checkHoles reports damage if a file of size bytes has a hole that a sound one has not.
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

// dataBetween reads at most limit bytes between two offsets, but neither a hole that begins
// there nor what follows a piece of zeros.
func (f *File) dataBetween(from, to, limit int64) ([]byte, error) {
	from = min(f.Data(from), to)
	return readPieces(io.NewSectionReader(f, from, to-from), min(to-from, limit))
}
