package format

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A touch file holds the last uses of old records: a header,
//
//	0 8 magic
//	8 8 XXH3 of the rest
//
// and entries of 12 bytes, a fingerprint and the minutes since 1970.
const (
	touchMagic      = "LARDTCH\x01"
	touchHeaderSize = 16
	touchSize       = 12
	MaxTouches      = 1 << 30 // bytes of a touch file
)

// EncodeTouches returns a touch file with the last uses of fingerprints, in minutes since
// 1970.
func EncodeTouches(t map[uint64]uint32) []byte {
	le := binary.LittleEndian
	b := make([]byte, touchHeaderSize, touchHeaderSize+touchSize*len(t))
	for fp, at := range t {
		b = le.AppendUint64(b, fp)
		b = le.AppendUint32(b, at)
	}
	copy(b, touchMagic)
	le.PutUint64(b[8:], xxh3.Hash(b[touchHeaderSize:]))
	return b
}

// DecodeTouches is the reverse of EncodeTouches.
func DecodeTouches(b []byte) (map[uint64]uint32, error) {
	le := binary.LittleEndian
	if len(b) < touchHeaderSize || string(b[:8]) != touchMagic || le.Uint64(b[8:]) != xxh3.Hash(b[touchHeaderSize:]) {
		return nil, fmt.Errorf("%w: bad checksum", ErrDamaged)
	}
	b = b[touchHeaderSize:]
	if len(b)%touchSize != 0 {
		return nil, fmt.Errorf("%w: half an entry", ErrDamaged)
	}
	t := make(map[uint64]uint32, len(b)/touchSize)
	for ; len(b) > 0; b = b[touchSize:] {
		t[le.Uint64(b)] = le.Uint32(b[8:])
	}
	return t, nil
}
