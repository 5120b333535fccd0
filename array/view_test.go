package array

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

func roundTrip[T Element](t *testing.T, values ...T) {
	t.Helper()
	a, err := From(values)
	if err != nil {
		t.Fatal(err)
	}
	if a.DType.Size() != int(unsafe.Sizeof(*new(T))) || a.Len() != len(values) {
		t.Errorf("%v of %d values", a, len(values))
	}
	got, err := Values[T](*a)
	if err != nil || !slices.Equal(got, values) {
		t.Errorf("%v came back as %v, %v", values, got, err)
	}
	if len(values) > 0 && littleEndian && &got[0] != &values[0] {
		t.Errorf("%v was copied", a.DType)
	}
}

func TestValuesRoundTrip(t *testing.T) {
	roundTrip(t, true, false)
	roundTrip[uint8](t, 0, 255)
	roundTrip[uint16](t, 0, math.MaxUint16)
	roundTrip[uint32](t, 0, math.MaxUint32)
	roundTrip[uint64](t, 0, math.MaxUint64)
	roundTrip[int8](t, math.MinInt8, math.MaxInt8)
	roundTrip[int16](t, math.MinInt16, math.MaxInt16)
	roundTrip[int32](t, math.MinInt32, math.MaxInt32)
	roundTrip[int64](t, math.MinInt64, math.MaxInt64)
	roundTrip[Half](t, 0x3c00)
	roundTrip[Brain](t, 0x3f80)
	roundTrip[float32](t, 0.5, float32(math.Inf(1)))
	roundTrip(t, 0.5, math.Inf(-1))
	roundTrip[complex64](t, 1+2i)
	roundTrip(t, 1+2i)
	roundTrip[float64](t)
}

func TestValuesOfUnalignedDataAreCopied(t *testing.T) {
	buf := make([]byte, 17)
	shift := 1
	if uintptr(unsafe.Pointer(&buf[1]))%8 == 0 {
		shift = 0
	}
	data := buf[shift : shift+16]
	data[0], data[8] = 1, 2
	a, err := New(Int64, []int{2}, data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Values[int64](*a)
	if err != nil || !slices.Equal(got, []int64{1, 2}) {
		t.Fatalf("%v, %v", got, err)
	}
	data[0] = 9
	if got[0] != 1 {
		t.Error("values share unaligned memory")
	}
}

func TestValuesRefuses(t *testing.T) {
	if _, err := Values[float32](Array{Int32, []int{1}, make([]byte, 4)}); err == nil {
		t.Error("int32 was viewed as float32")
	}
	if _, err := Values[bool](Array{Bool, []int{2}, []byte{1, 2}}); err == nil {
		t.Error("2 was viewed as a bool")
	}
	if _, err := Values[uint8](Array{Uint8, []int{2}, []byte{1}}); err == nil {
		t.Error("an invalid array was viewed")
	}
	if _, err := From([]int32{1, 2, 3}, 2, 2); err == nil {
		t.Error("3 values have the shape 2, 2")
	}
}

func TestSwapBytes(t *testing.T) {
	for _, word := range []int{0, 1, 2, 4, 8, 3, 16} {
		b := make([]byte, 2*word+1)
		for i := range b {
			b[i] = byte(i)
		}
		want := slices.Clone(b)
		if word > 0 {
			slices.Reverse(want[:word])
			slices.Reverse(want[word : 2*word])
		}
		if SwapBytes(b, word); !slices.Equal(b, want) {
			t.Errorf("words of %d: %v, want %v", word, b, want)
		}
	}
}

// TestOtherByteOrderSwapsBothWays inverts the machine's byte order, so that both directions swap.
func TestOtherByteOrderSwapsBothWays(t *testing.T) {
	as, err := From([]uint16{0x0102})
	if err != nil {
		t.Fatal(err)
	}
	littleEndian = !littleEndian
	defer func() { littleEndian = !littleEndian }()
	swapped, err := From([]uint16{0x0102})
	if err != nil {
		t.Fatal(err)
	}
	if as.Data[0] != swapped.Data[1] || as.Data[1] != swapped.Data[0] {
		t.Errorf("% x was swapped to % x", as.Data, swapped.Data)
	}
	if got, err := Values[uint16](*swapped); err != nil || got[0] != 0x0102 {
		t.Errorf("%#x, %v", got, err)
	}
}
