package array

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBytesRefusesWhatNoArrayCanBe(t *testing.T) {
	tests := []struct {
		dtype DType
		shape []int
		want  int // -1 for an error
	}{
		{Float32, []int{2, 3}, 24},
		{Complex128, nil, 16},
		{Bool, []int{0, 5}, 0},
		{Uint8, []int{math.MaxInt}, math.MaxInt},
		{Uint16, []int{math.MaxInt}, -1},
		{Uint8, []int{1 << 32, 1 << 32}, -1},
		{Uint8, []int{1 << 32, 1 << 32, 1 << 32, 1 << 32}, -1},
		{Uint8, []int{1 << 32, 1 << 32, 0}, 0},
		{Uint8, []int{0, -1}, -1},
		{Uint8, []int{-1, -1}, -1},
		{0, []int{1}, -1},
		{Complex128 + 1, []int{1}, -1},
		{Uint8, make([]int, MaxRank), 0},
		{Uint8, make([]int, MaxRank+1), -1},
	}
	for _, test := range tests {
		got, err := Bytes(test.dtype, test.shape)
		if test.want < 0 {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%v %v: %d, %v; want ErrInvalid", test.dtype, test.shape, got, err)
			}
		} else if got != test.want || err != nil {
			t.Errorf("%v %v: %d, %v; want %d", test.dtype, test.shape, got, err, test.want)
		}
	}
}

func TestNewChecksLength(t *testing.T) {
	if _, err := New(Int16, []int{2}, make([]byte, 3)); !errors.Is(err, ErrInvalid) {
		t.Errorf("3 bytes for 2 int16: %v", err)
	}
	a, err := New(Int16, []int{2}, nil)
	if err != nil || !bytes.Equal(a.Data, make([]byte, 4)) {
		t.Errorf("zeros: %v, %v", a, err)
	}
	if _, err := (Array{DType: Uint8, Shape: []int{2}}).AppendKey(nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("the key of an invalid array: %v", err)
	}
}

func TestDTypesParse(t *testing.T) {
	for d := Bool; d.Valid(); d++ {
		if got, err := ParseDType(d.String()); got != d || err != nil {
			t.Errorf("%v parses to %v, %v", d, got, err)
		}
		if d.Size()%d.Word() != 0 {
			t.Errorf("%v: a word of %d in an element of %d bytes", d, d.Word(), d.Size())
		}
	}
	for _, name := range []string{"", "float", "DType(0)", DType(200).String()} {
		if d, err := ParseDType(name); err == nil {
			t.Errorf("%q parses to %v", name, d)
		}
	}
}

// drawArray draws small arrays, so that equal ones are common.
func drawArray(t *rapid.T) Array {
	dtype := rapid.SampledFrom([]DType{Uint8, Int8, Uint16, Bool}).Draw(t, "dtype")
	shape := rapid.SliceOfN(rapid.IntRange(0, 2), 0, 3).Draw(t, "shape")
	size, err := Bytes(dtype, shape)
	if err != nil {
		t.Fatal(err)
	}
	data := rapid.SliceOfN(rapid.ByteRange(0, 1), size, size).Draw(t, "data")
	return Array{dtype, shape, data}
}

func TestKeysAreEqualExactlyWhereArraysAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawArray(t), drawArray(t)
		keyA, errA := a.AppendKey(nil)
		keyB, errB := b.AppendKey(nil)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if bytes.Equal(keyA, keyB) != a.Equal(b) {
			t.Errorf("%v %v, %v %v: keys equal %v, arrays equal %v", a, a.Data, b, b.Data, bytes.Equal(keyA, keyB), a.Equal(b))
		}
		if !slices.Equal(keyA[:3], []byte{keyFormat, byte(a.DType), byte(len(a.Shape))}) {
			t.Errorf("key starts with % x", keyA[:3])
		}
	})
}
