package format

import (
	"bytes"
	"fmt"
)

// MaxZeros is how many bytes a file that is read as a whole is looked at together. None
// that is sound has as many zeros: a crash, or a hole, leaves them, and then the length of
// the file says nothing of what it holds.
const MaxZeros = 128 << 10

// CheckZeros reports damage if one of the pieces of MaxZeros bytes that b consists of is
// nothing but zeros.
func CheckZeros(b []byte) error {
	for from := 0; len(b)-from >= MaxZeros; from += MaxZeros {
		if len(bytes.TrimLeft(b[from:from+MaxZeros], "\x00")) == 0 {
			return fmt.Errorf("%w: nothing but zeros from byte %d on", ErrDamaged, from)
		}
	}
	return nil
}
