package codec_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/larder-data/larder/codec"
)

// TestPlainValuesAreWrittenAsOthers checks that the hand-written encoder agrees with encoding/json for each character.
func TestPlainValuesAreWrittenAsOthers(t *testing.T) {
	values := []any{true, false, int64(0), int64(math.MinInt64), int64(math.MaxInt64), "", "a string", "<&>", "\u2028", "é", "\x7f", "a\\", "\ufffd"}
	for c := range 256 {
		values = append(values, "before"+string(rune(c))+"behind")
	}
	c, _ := codec.ByExtension("json")
	for _, v := range values {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Encode(v); err != nil || string(got)+"\n" != want.String() {
			t.Errorf("%q is written as %s (%v), want %s", v, got, err, want.Bytes())
		}
	}
}
