package mapper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/larder-data/larder/array"
)

// A workerForm is how a value lies in a message.
type workerForm uint8

// The forms. An image is an array of pixels that is an image there, and an error is why
// there is no value.
const (
	asArray workerForm = iota
	asText
	asBytes
	asJSON
	asImage
	asCMYK
	asError workerForm = 255
)

// A workerValue is one value of a message: elements of a type and a shape, or bytes.
type workerValue struct {
	form  workerForm
	dtype array.DType
	shape []int
	data  []byte
}

// valueHead is what stands in front of each value: form, type, number of dimensions,
// 5 bytes of nothing, and the bytes of its data; then come its dimensions, of 8 bytes each.
const valueHead = 16

// pad rounds up, so that every value begins at a multiple of 8.
func pad(n int64) int64 { return (n + 7) &^ 7 }

// sized is how many bytes it takes once n bytes of data are filled in.
func (v *workerValue) sized(n int) int64 {
	return valueHead + 8*int64(len(v.shape)) + pad(int64(n))
}

// putHead writes all of a value but its data, of n bytes, and returns where these belong.
func (v *workerValue) putHead(to []byte, n int) (data []byte) {
	clear(to[:valueHead])
	to[0], to[1], to[2] = byte(v.form), byte(v.dtype), byte(len(v.shape))
	binary.LittleEndian.PutUint64(to[8:], uint64(n))
	for i, d := range v.shape {
		binary.LittleEndian.PutUint64(to[valueHead+8*i:], uint64(d))
	}
	at := valueHead + 8*len(v.shape)
	return to[at : at+n]
}

var errAnswer = errors.New("the worker sent what is not understood; are the program and the package of one version?")

// readValue reads the value at the beginning of a message, which it shares, and returns
// what comes after it.
func readValue(from []byte) (v workerValue, rest []byte, err error) {
	if len(from) < valueHead {
		return v, nil, errAnswer
	}
	v.form, v.dtype = workerForm(from[0]), array.DType(from[1])
	rank, n := int(from[2]), binary.LittleEndian.Uint64(from[8:])
	from = from[valueHead:]
	if rank > array.MaxRank || len(from) < 8*rank || n > uint64(len(from)-8*rank) {
		return v, nil, errAnswer
	}
	v.shape = make([]int, rank)
	for i := range v.shape {
		d := binary.LittleEndian.Uint64(from[8*i:])
		if d > math.MaxInt {
			return v, nil, errAnswer
		}
		v.shape[i] = int(d)
	}
	from = from[8*rank:]
	v.data = from[:n:n]
	if v.form == asArray || v.form == asImage {
		if size, err := array.Bytes(v.dtype, v.shape); err != nil || size != int(n) {
			return v, nil, fmt.Errorf("%w (%v of shape %v in %d bytes)", errAnswer, v.dtype, v.shape, n)
		}
	}
	return v, from[min(uint64(len(from)), uint64(pad(int64(n)))):], nil
}
