package expr

import (
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/display"
)

// kinds is a set of kinds of values: of a value that is there one, of what an expression
// may come out as several.
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
	otherKind // images, arrays, types of a program's own

	numberKind = wholeKind | floatKind
	anyKind    = 1<<iota - 1
)

// kindNames are what kinds are called, in the order in which several are named.
var kindNames = []struct {
	kind kinds
	name string
}{
	{textKind, "a text"}, {numberKind, "a number"}, {wholeKind, "a whole number"}, {floatKind, "a number"}, {truthKind, "a truth value"},
	{listKind, "a list"}, {mappingKind, "a mapping"}, {timeKind, "a time"}, {durationKind, "a duration"}, {zoneKind, "a time zone"},
	{bytesKind, "bytes"}, {otherKind, "a value of another kind"}, {nullKind, "null"},
}

// String is what the kinds are called in messages.
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

// known reports whether a set says something.
func (k kinds) known() bool { return k != anyKind }

// kindOf is the kind of a value that plain returned.
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

// kindName is what the kind of a value is called in messages.
func kindName(v any) string {
	if b, ok := v.(*big.Int); ok && !b.IsInt64() {
		return "a whole number of more than 64 bits"
	}
	if k := kindOf(plain(v)); k != otherKind {
		return k.String()
	}
	return display.Value(v)
}

// plain is a value as functions take it: numbers of Go's many types are int, *big.Int
// (of more than 64 bits) and float64, named types of texts and truth values string and
// bool.
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

// scalar is the number that an array without dimensions holds, such as a label of NumPy, and any other
// value as it is.
func scalar(v any) (number any, ok bool) {
	if a, isArray := v.(*array.Array); isArray && a != nil {
		if number, ok = a.Scalar(); ok {
			return number, true
		}
	}
	return v, false
}
