package pyfunction

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
)

// A Form is how a value lies in a message.
type Form uint8

// The forms. An image is an array of pixels that is an image there, and an error is why
// there is no value.
const (
	AsArray Form = iota
	AsText
	AsBytes
	AsJSON
	AsImage
	AsCMYK
	AsError Form = 255
)

// A Value is one value of a message: elements of a type and a shape, or bytes.
type Value struct {
	Form  Form
	DType array.DType
	Shape []int
	Data  []byte
}

// valueHead is what stands in front of each value: form, type, number of dimensions,
// 5 bytes of nothing, and the bytes of its data; then come its dimensions, of 8 bytes each.
const valueHead = 16

// pad rounds up, so that every value begins at a multiple of 8.
func pad(n int64) int64 { return (n + 7) &^ 7 }

// Sized is how many bytes it takes once n bytes of data are filled in.
func (v *Value) Sized(n int) int64 {
	return valueHead + 8*int64(len(v.Shape)) + pad(int64(n))
}

// PutHead writes all of a value but its data, of n bytes, and returns where these belong.
func (v *Value) PutHead(to []byte, n int) (data []byte) {
	clear(to[:valueHead])
	to[0], to[1], to[2] = byte(v.Form), byte(v.DType), byte(len(v.Shape))
	binary.LittleEndian.PutUint64(to[8:], uint64(n))
	for i, d := range v.Shape {
		binary.LittleEndian.PutUint64(to[valueHead+8*i:], uint64(d))
	}
	at := valueHead + 8*len(v.Shape)
	return to[at : at+n]
}

// ErrAnswer is the error of what no worker of this version sends.
var ErrAnswer = errors.New("the worker sent an unknown message; check that the program and the package have the same version")

// ReadValue reads the value at the beginning of a message, which it shares, and returns
// what comes after it.
func ReadValue(from []byte) (v Value, rest []byte, err error) {
	if len(from) < valueHead {
		return v, nil, ErrAnswer
	}
	v.Form, v.DType = Form(from[0]), array.DType(from[1])
	rank, n := int(from[2]), binary.LittleEndian.Uint64(from[8:])
	from = from[valueHead:]
	if rank > array.MaxRank || len(from) < 8*rank || n > uint64(len(from)-8*rank) {
		return v, nil, ErrAnswer
	}
	v.Shape = make([]int, rank)
	for i := range v.Shape {
		d := binary.LittleEndian.Uint64(from[8*i:])
		if d > math.MaxInt {
			return v, nil, ErrAnswer
		}
		v.Shape[i] = int(d)
	}
	from = from[8*rank:]
	v.Data = from[:n:n]
	if v.Form == AsArray || v.Form == AsImage {
		if size, err := array.Bytes(v.DType, v.Shape); err != nil || size != int(n) {
			return v, nil, fmt.Errorf("%w (%v of shape %v in %d bytes)", ErrAnswer, v.DType, v.Shape, n)
		}
	}
	return v, from[min(uint64(len(from)), uint64(pad(int64(n)))):], nil
}

// item is the item of what a function returned.
func (v *Value) item() (*dataset.Item, error) {
	data := append([]byte(nil), v.Data...) // the worker's memory is written to again
	switch v.Form {
	case AsText:
		return dataset.NewItem("txt", string(data)), nil
	case AsBytes:
		return dataset.NewItem("bin", data), nil
	case AsJSON:
		return dataset.CheckedBytes("json", data)
	case AsImage:
		img, err := array.Array{DType: v.DType, Shape: v.Shape, Data: data}.Image()
		return dataset.NewItem("png", img), err
	}
	a, err := array.New(v.DType, v.Shape, data)
	return dataset.NewItem("npy", a), err
}
