package stream

import (
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/codec"
)

// chunkCodec writes elements in sequence, each after its length.
func chunkCodec[T any](of *codec.Value[T]) *codec.Value[[]T] {
	id := "larder stream chunk 1 of " + of.ID
	return &codec.Value[[]T]{
		ID: id, Type: xxh3.HashString(id) ^ of.Type, Aliases: of.Aliases,
		Encode: func(dst []byte, all []T) ([]byte, error) {
			for _, v := range all {
				b, err := of.Encode(nil, v)
				if err != nil {
					return nil, err
				}
				dst = appendText(dst, b)
			}
			return dst, nil
		},
		Decode: func(b []byte) (all []T, err error) {
			for len(b) > 0 {
				n, at := binary.Uvarint(b)
				if at <= 0 || n > uint64(len(b)-at) {
					return nil, errors.New("not a chunk of a stream")
				}
				end := at + int(n)
				v, err := of.Decode(b[at:end:end])
				if err != nil {
					return nil, err
				}
				all, b = append(all, v), b[end:]
			}
			return all, nil
		},
	}
}
