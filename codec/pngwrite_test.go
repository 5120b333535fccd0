package codec

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// TestEightBytesAsOne checks arithmetic on eight bytes in a word against the same on each byte.
func TestEightBytesAsOne(t *testing.T) {
	word := rapid.OneOf(rapid.Uint64(), rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0x81, 0xff}), 8, 8), binary.LittleEndian.Uint64))
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		var minus, mean [8]byte
		sum := 0
		for i := range 8 {
			x, y := byte(a>>(8*i)), byte(b>>(8*i))
			minus[i], mean[i] = x-y, byte((int(x)+int(y))/2)
			sum += magnitude(x)
		}
		if got, want := minus8(a, b), binary.LittleEndian.Uint64(minus[:]); got != want {
			t.Errorf("minus8(%#x, %#x) = %#x, want %#x", a, b, got, want)
		}
		if got, want := mean8(a, b), binary.LittleEndian.Uint64(mean[:]); got != want {
			t.Errorf("mean8(%#x, %#x) = %#x, want %#x", a, b, got, want)
		}
		if got := magnitude8(a); got != sum {
			t.Errorf("magnitude8(%#x) = %d, want %d", a, got, sum)
		}
	})
}
