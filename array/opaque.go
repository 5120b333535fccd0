package array

import (
	"encoding/binary"
	"image"
)

// allOpaque is m.Opaque, eight pixels at a time.
func allOpaque(m *image.RGBA) bool {
	const alphas = 0xff000000_ff000000
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:4*m.Rect.Dx()]
		all := uint64(alphas)
		for ; len(row) >= 32; row = row[32:] {
			all &= binary.LittleEndian.Uint64(row) & binary.LittleEndian.Uint64(row[8:]) &
				binary.LittleEndian.Uint64(row[16:]) & binary.LittleEndian.Uint64(row[24:])
		}
		for ; len(row) > 0; row = row[4:] {
			if row[3] != 255 {
				return false
			}
		}
		if all != alphas {
			return false
		}
	}
	return true
}
