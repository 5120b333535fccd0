package codec_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/array"
)

// TestEncodingsStayTheSame pins bytes in stores: a change here changes the format, and needs another version in the ID
// of the Value.
func TestEncodingsStayTheSame(t *testing.T) {
	pin := func(encoded []byte, want string) {
		t.Helper()
		if got := hex.EncodeToString(encoded); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	pin(second(restored(t, int32(-2))), "feffffff")
	pin(second(restored(t, "text")), "74657874")
	pin(second(restored(t, []byte{7})), "0107")
	pin(second(restored(t, aSmall)), "846b6120736d616c6c206f6e65fb3fe0000000000000826178617907")
	pin(second(restored(t, map[string][]float32{"b": {1}, "a": nil})), "a26161f66162d855440000803f")
	pin(second(restored(t, ptr(ptr(-500)))), "81813901f3")
	pin(second(restored[any](t, []any{true, nil, 1})), "8203838200f5f6820501")
	pin(second(restored(t, time.Unix(1, 2).In(time.FixedZone("A", 60)))), "860102026141183c40")
	a, err := array.From([]uint16{1, 2}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	pin(second(restored(t, a)), "0103020001000000000000000200000000000000"+strings.Repeat("00", 44)+"01000200")
}

func second[A, B any](_ A, b B) B { return b }

// TestFingerprintsStayTheSame pins a fingerprint, without which no cached value is found.
func TestFingerprintsStayTheSame(t *testing.T) {
	if got := fingerprintOf[map[string][]float64](t); got != 0x3fa855ab8e9e12eb {
		t.Errorf("%#x", got)
	}
}
