package display_test

import (
	"encoding/json"
	"errors"
	"image"
	"math/big"
	"testing"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/display"
)

type own struct{}

func TestValue(t *testing.T) {
	for want, values := range map[string][]any{
		"null":               {nil},
		"a string":           {"a"},
		"a boolean":          {true},
		"an integer":         {1, int64(2), uint8(3), big.NewInt(4)},
		"a number":           {1.5, float32(2), json.Number("3")},
		"bytes":              {[]byte("a")},
		"a list":             {[]any{1}, []string{"a"}, [2]int{}},
		"a mapping":          {map[string]any{}, map[int]bool{}},
		"an image":           {image.NewGray(image.Rect(0, 0, 1, 1))},
		"an array":           {&array.Array{}},
		"a time":             {time.Now()},
		"an error":           {errors.New("a")},
		"a function":         {func() {}},
		"a display_test.own": {own{}},
	} {
		for _, v := range values {
			if got := display.Value(v); got != want {
				t.Errorf("%#v is called %s, want %s", v, got, want)
			}
		}
	}
}
