package expr

import (
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/display"
)

// kinds is a set of kinds of values. A value has one, and the result of an expression
// may have several.
type kinds uint16

const (
	nullKind kinds = 1 << iota
	truthKind
	wholeKind
	floatKind
	textKind
	listKind
	mappingKind
	timeKind
	durationKind
	zoneKind
	bytesKind
	otherKind // images, arrays, types of programs

	numberKind = wholeKind | floatKind
	anyKind    = 1<<iota - 1
)

// kindNames are the names of kinds, in the order for messages.
var kindNames = []struct {
	kind kinds
	name string
}{
	{textKind, "a string"}, {numberKind, "a number"}, {wholeKind, "an integer"}, {floatKind, "a number"}, {truthKind, "a boolean"},
	{listKind, "a list"}, {mappingKind, "a mapping"}, {timeKind, "a time"}, {durationKind, "a duration"}, {zoneKind, "a time zone"},
	{bytesKind, "bytes"}, {otherKind, "a value of another kind"}, {nullKind, "null"},
}

// String returns the names of the kinds for messages.
func (k kinds) String() string {
	var names []string
	for _, n := range kindNames {
		if k&n.kind == n.kind {
			names = append(names, n.name)
			k &^= n.kind
		}
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}

// known reports whether the set excludes any kind.
func (k kinds) known() bool { return k != anyKind }

// kindOf returns the kind of a value from plain.
func kindOf(v any) kinds {
	switch v.(type) {
	case nil:
		return nullKind
	case bool:
		return truthKind
	case int, *big.Int:
		return wholeKind
	case float64:
		return floatKind
	case string:
		return textKind
	case []any, []int:
		return listKind
	case map[string]any, map[any]any:
		return mappingKind
	case time.Time:
		return timeKind
	case time.Duration:
		return durationKind
	case *time.Location:
		return zoneKind
	case []byte:
		return bytesKind
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.Slice, reflect.Array:
		return listKind
	case reflect.Map:
		return mappingKind
	}
	return otherKind
}

// kindName returns the name of a value's kind for messages.
func kindName(v any) string {
	if b, ok := v.(*big.Int); ok && !b.IsInt64() {
		return "an integer of more than 64 bits"
	}
	if k := kindOf(plain(v)); k != otherKind {
		return k.String()
	}
	return display.Value(v)
}

// plain converts a value for functions: numeric types become int, *big.Int (above 64
// bits) and float64, named string and boolean types string and bool.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, int, float64, string, []any, map[string]any, time.Time, time.Duration, *time.Location, []byte:
		return v
	case int64:
		return int(v)
	case *big.Int:
		if v.IsInt64() {
			return int(v.Int64())
		}
		return v
	}
	if number, ok := scalar(v); ok {
		return plain(number)
	}
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return int(r.Int())
	case r.CanUint():
		return plain(new(big.Int).SetUint64(r.Uint()))
	case r.CanFloat():
		return r.Float()
	case r.Kind() == reflect.String:
		return r.String()
	case r.Kind() == reflect.Bool:
		return r.Bool()
	}
	return v
}

// scalar returns the number in an array without dimensions, such as a label of NumPy,
// and any other value unchanged.
func scalar(v any) (number any, ok bool) {
	if a, isArray := v.(*array.Array); isArray && a != nil {
		if number, ok = a.Scalar(); ok {
			return number, true
		}
	}
	return v, false
}
