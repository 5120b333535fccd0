package key

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxText  = 200 // bytes of a value's text
	maxShown = 16  // elements that are shown separately
)

// text shows a short value, and describes a long one. It calls methods only of times
// and of types of package key.
func text(v reflect.Value) string {
	if s, ok := scalarText(v); ok {
		return s
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return listText(v)
	case reflect.Map:
		return mapText(v)
	}
	return v.Type().String()
}

func mapText(v reflect.Value) string {
	summary := v.Type().String() + ", " + strconv.Itoa(v.Len()) + " entries"
	if v.Type().Name() == "" && v.Type().Key().Kind() == reflect.String {
		summary = "a mapping of " + strconv.Itoa(v.Len()) + " entries"
	}
	if v.Len() > maxShown || v.Type().Key().Kind() != reflect.String {
		return summary
	}
	words := make([]string, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		e := it.Value()
		if e.Kind() == reflect.Interface {
			e = e.Elem()
		}
		s, ok := scalarText(e)
		if !ok {
			return summary
		}
		words = append(words, quote(it.Key().String())+": "+s)
	}
	slices.Sort(words)
	return "{" + strings.Join(words, ", ") + "}"
}

func listText(v reflect.Value) string {
	n := v.Len()
	summary := v.Type().String() + ", " + strconv.Itoa(n) + " elements"
	if n > maxShown {
		return summary
	}
	words := make([]string, n)
	for i := range n {
		e := v.Index(i)
		if e.Kind() == reflect.Interface {
			e = e.Elem()
		}
		s, ok := scalarText(e)
		if !ok {
			return summary
		}
		words[i] = s
	}
	return "[" + strings.Join(words, " ") + "]"
}

func scalarText(v reflect.Value) (s string, ok bool) {
	switch v.Kind() {
	case reflect.Invalid:
		return "nil", true
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			return time.Duration(v.Int()).String(), true
		}
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), true
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), true
	case reflect.Complex64, reflect.Complex128:
		return strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits()), true
	case reflect.String:
		return quote(v.String()), true
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return "nil", v.IsNil()
	case reflect.Struct, reflect.Array:
		return namedText(v)
	}
	return "", false
}

// namedText shows values of types with a short text.
func namedText(v reflect.Value) (s string, ok bool) {
	switch x := v.Interface().(type) {
	case time.Time:
		return x.Format(time.RFC3339Nano), true
	case Digest:
		return x.String(), true
	case Key:
		return x.String(), true
	}
	return "", false
}

// quote shortens and quotes s, unless it is a digest.
func quote(s string) string {
	if _, err := ParseDigest(s); err == nil {
		return s
	}
	if len(s) > maxText {
		return strconv.Quote(s[:maxText]) + "..."
	}
	return strconv.Quote(s)
}

// clip shortens a long s and makes it valid UTF-8.
func clip(s string) string {
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "..." // the last rune may be cut
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// keyText returns the key of a map for the path of an error.
func keyText(k reflect.Value) string {
	if k.Kind() == reflect.Interface {
		k = k.Elem()
	}
	return clip(text(k))
}
