// Package display returns the names of values and errors in messages for users. It finds the
// valid name that is nearest to a mistyped one, and parses sizes that users write.
package display

import (
	"encoding/json"
	"fmt"
	"image"
	"math/big"
	"reflect"
	"time"

	"github.com/larder-data/larder/array"
)

// Value returns the kind of a value in messages: "a string", "an image", "a list". For
// types of the user's program it returns the type's name.
func Value(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []byte:
		return "bytes"
	case *big.Int:
		return "an integer"
	case json.Number:
		return "a number"
	case time.Time:
		return "a time"
	case time.Duration:
		return "a duration"
	case image.Image:
		return "an image"
	case *array.Array, array.Array:
		return "an array"
	case error:
		return "an error"
	case fmt.Stringer:
		return fmt.Sprintf("a %T", v)
	}
	t := reflect.TypeOf(v)
	if name := Type(t.String()); name != "" {
		return name
	}
	if t.Name() != "" && t.PkgPath() != "" {
		return fmt.Sprintf("a %T", v)
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map:
		return "a mapping"
	case reflect.Func:
		return "a function"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	if k := t.Kind(); k >= reflect.Int && k <= reflect.Uint64 {
		return "an integer"
	}
	return fmt.Sprintf("a %T", v)
}
