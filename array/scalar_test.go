package array_test

import (
	"math"
	"testing"

	"github.com/larder-data/larder/array"
)

func TestScalar(t *testing.T) {
	for _, c := range []struct {
		dtype array.DType
		data  []byte
		want  any
	}{
		{array.Bool, []byte{1}, true}, {array.Uint8, []byte{200}, uint64(200)}, {array.Int8, []byte{200}, int64(-56)},
		{array.Int16, []byte{0xff, 0xff}, int64(-1)}, {array.Uint16, []byte{0xff, 0xff}, uint64(65535)},
		{array.Int64, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, int64(math.MinInt64)}, {array.Uint64, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, uint64(1 << 63)},
		{array.Float16, []byte{0x00, 0x3e}, 1.5}, {array.Float16, []byte{0x01, 0x80}, -math.Ldexp(1, -24)}, {array.Float16, []byte{0xff, 0x7b}, 65504.0}, {array.Float16, []byte{0x00, 0xfc}, math.Inf(-1)},
		{array.BFloat16, []byte{0xc0, 0x3f}, 1.5}, {array.Float32, []byte{0, 0, 0xc0, 0x3f}, 1.5}, {array.Float64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 1.5},
	} {
		a := array.Array{DType: c.dtype, Shape: []int{}, Data: c.data}
		if v, ok := a.Scalar(); !ok || v != c.want {
			t.Errorf("%v %x: %v (%T), want %v", c.dtype, c.data, v, v, c.want)
		}
	}
	for _, a := range []array.Array{{DType: array.Uint8, Shape: []int{1}, Data: []byte{1}}, {DType: array.Complex64, Data: make([]byte, 8)}, {DType: array.Int16, Data: []byte{1}}} {
		if v, ok := a.Scalar(); ok {
			t.Errorf("%v is %v", a, v)
		}
	}
}
