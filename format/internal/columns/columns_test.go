package columns_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/larder-data/larder/format/internal/columns"
)

func TestShape(t *testing.T) {
	for _, c := range []struct {
		begins []byte
		depth  int
		want   []int // nil for no array
	}{
		{[]byte{0}, 1, []int{1}},
		{[]byte{0, 1, 1}, 1, []int{3}},
		{[]byte{0, 2, 1, 2, 1, 2}, 2, []int{3, 2}},
		{[]byte{0, 1, 1}, 2, []int{3, 1}},
		{[]byte{0, 2, 1}, 2, nil},
		{[]byte{0, 1, 2, 2}, 2, nil},
		{[]byte{0, 3, 2, 3, 1, 3, 2, 3}, 3, []int{2, 2, 2}},
		{[]byte{0, 2, 2, 1, 1, 2}, 2, nil},
		{[]byte{1, 1}, 1, nil},
		{[]byte{0, 5}, 1, nil},
	} {
		if got, ok := columns.Shape(c.begins, c.depth); ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v", c.begins, got, ok)
		}
	}
}

func TestTexts(t *testing.T) {
	for got, want := range map[string]string{
		columns.Decimal(big.NewInt(-5), 2):        "-0.05",
		columns.Decimal(big.NewInt(12345), 2):     "123.45",
		columns.Decimal(big.NewInt(7), -2):        "700",
		columns.Date(-1):                          "1969-12-31",
		columns.Timestamp(-1, 3, true):            "1969-12-31T23:59:59.999Z",
		columns.Timestamp(-62135596801, 0, false): "0000-12-31T23:59:59",
		columns.TimeOfDay(3_600_000_001, 6):       "01:00:00.000001",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzLZ4 checks that the output is not larger than requested.
func FuzzLZ4(f *testing.F) {
	f.Add([]byte{0x10, 'a', 1, 0, 0}, 5)
	f.Add([]byte{4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 3, 0, 0, 0x80, 'a', 'b', 'c', 0, 0, 0, 0}, 3)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		if size < 0 || size > 1<<16 {
			return
		}
		if out, err := columns.UnpackLZ4(nil, b, size); err == nil && len(out) > size {
			t.Errorf("%d bytes, of %d", len(out), size)
		}
		if out, err := columns.UnpackLZ4Frame(b, size); err == nil && len(out) > size {
			t.Errorf("%d bytes of a frame, of %d", len(out), size)
		}
	})
}
