package format

import (
	"bytes"
	"fmt"
)

// MaxZeros is the size of the pieces in which a file that is read as a whole is checked. No
// sound file has as many zeros: they come from a crash or a hole, and then the length of
// the file says nothing about its content.
const MaxZeros = 128 << 10

// CheckZeros reports damage if a piece of MaxZeros bytes of b is all zeros.
func CheckZeros(b []byte) error {
	for from := 0; len(b)-from >= MaxZeros; from += MaxZeros {
		if len(bytes.TrimLeft(b[from:from+MaxZeros], "\x00")) == 0 {
			return fmt.Errorf("%w: only zeros from byte %d on", ErrDamaged, from)
		}
	}
	return nil
}
