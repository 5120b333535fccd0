package columns

import (
	"encoding/binary"
	"errors"
)

// ErrLZ4 is the error of invalid data.
var ErrLZ4 = errors.New("not LZ4 data, or damaged")

// UnpackLZ4 appends the content of an LZ4 block to out, up to the total size. The block
// may refer to the bytes already in out.
func UnpackLZ4(out, b []byte, size int) ([]byte, error) {
	length := func(n int) (int, bool) {
		for n >= 15 {
			if len(b) == 0 {
				return 0, false
			}
			more := int(b[0])
			b = b[1:]
			if n += more; more < 255 || n > size {
				return n, n <= size
			}
		}
		return n, true
	}
	for len(b) > 0 {
		token := int(b[0])
		b = b[1:]
		n, ok := length(token >> 4)
		if !ok || n > len(b) || n > size-len(out) {
			return nil, ErrLZ4
		}
		out, b = append(out, b[:n]...), b[n:]
		if len(b) == 0 {
			return out, nil
		}
		if len(b) < 2 {
			return nil, ErrLZ4
		}
		back := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		n, ok = length(token & 15)
		if n += 4; !ok || back == 0 || back > len(out) || n > size-len(out) {
			return nil, ErrLZ4
		}
		for range n { // the copied range may overlap its result
			out = append(out, out[len(out)-back])
		}
	}
	return out, nil
}

// UnpackLZ4Frame decompresses an LZ4 frame of at most size bytes. It ignores checksums.
func UnpackLZ4Frame(b []byte, size int) (out []byte, err error) {
	if len(b) < 7 || binary.LittleEndian.Uint32(b) != 0x184D2204 {
		return nil, ErrLZ4
	}
	flags, head := b[4], 7
	if flags&8 != 0 {
		head += 8 // size
	}
	if flags&1 != 0 {
		head += 4 // dictionary
	}
	if flags>>6 != 1 || flags&1 != 0 || len(b) < head {
		return nil, ErrLZ4
	}
	for b = b[head:]; len(b) >= 4; {
		n := binary.LittleEndian.Uint32(b)
		if b = b[4:]; n == 0 {
			return out, nil
		}
		plain := n>>31 != 0
		if n &^= 1 << 31; uint64(n) > uint64(len(b)) || plain && int(n) > size-len(out) {
			return nil, ErrLZ4
		}
		if plain {
			out = append(out, b[:n]...)
		} else if out, err = UnpackLZ4(out, b[:n], size); err != nil {
			return nil, err
		}
		b = b[n:]
		if flags&16 != 0 { // checksum of the block
			b = b[min(4, len(b)):]
		}
	}
	return nil, ErrLZ4
}
