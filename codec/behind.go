package codec

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/array"
)

// common lists types in interfaces that are encoded by their index here. Append new types
// at the end, and never remove one.
var common = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](),
	reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](),
	reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
	reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](), reflect.TypeFor[json.Number](),
	reflect.TypeFor[[]string](), reflect.TypeFor[[]int](), reflect.TypeFor[[]float64](), reflect.TypeFor[map[string]string](), reflect.TypeFor[[]map[string]any](),
	reflect.TypeFor[*image.RGBA](), reflect.TypeFor[*image.NRGBA](), reflect.TypeFor[*image.Gray](), reflect.TypeFor[*image.YCbCr](),
	reflect.TypeFor[*image.RGBA64](), reflect.TypeFor[*image.NRGBA64](), reflect.TypeFor[*image.Gray16](), reflect.TypeFor[*image.NYCbCrA](),
	reflect.TypeFor[*image.Paletted](), reflect.TypeFor[*image.CMYK](), reflect.TypeFor[*image.Alpha](), reflect.TypeFor[*image.Alpha16](),
	reflect.TypeFor[*image.Uniform](),
	reflect.TypeFor[color.RGBA](), reflect.TypeFor[color.NRGBA](), reflect.TypeFor[color.Gray](), reflect.TypeFor[color.YCbCr](),
	reflect.TypeFor[color.RGBA64](), reflect.TypeFor[color.NRGBA64](), reflect.TypeFor[color.Gray16](), reflect.TypeFor[color.NYCbCrA](),
	reflect.TypeFor[color.CMYK](), reflect.TypeFor[color.Alpha](), reflect.TypeFor[color.Alpha16](),
}

// basic maps the names of types without a package.
var basic = func() map[string]reflect.Type {
	all := map[string]reflect.Type{"any": reflect.TypeFor[any](), "struct{}": reflect.TypeFor[struct{}]()}
	for _, t := range common {
		if t.Name() != "" && t.PkgPath() == "" {
			all[t.Name()] = t
		}
	}
	return all
}()

// named maps the names of types of packages that may be in interfaces. A name of two types
// maps to neither.
var named = struct {
	sync.RWMutex
	types map[string]reflect.Type
}{types: map[string]reflect.Type{}}

func init() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](), reflect.TypeFor[time.Month](), reflect.TypeFor[time.Weekday](),
		reflect.TypeFor[json.Number](), reflect.TypeFor[json.RawMessage](),
		reflect.TypeFor[url.URL](), reflect.TypeFor[url.Userinfo](), reflect.TypeFor[url.Values](),
		reflect.TypeFor[big.Int](), reflect.TypeFor[big.Rat](), reflect.TypeFor[big.Float](),
		reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.AddrPort](), reflect.TypeFor[netip.Prefix](),
		reflect.TypeFor[array.Array](), reflect.TypeFor[array.DType](), reflect.TypeFor[array.GrayAlpha](), reflect.TypeFor[array.GrayAlpha16](),
		reflect.TypeFor[image.Point](), reflect.TypeFor[image.Rectangle](), reflect.TypeFor[color.Palette](),
		reflect.TypeFor[image.RGBA](), reflect.TypeFor[image.NRGBA](), reflect.TypeFor[image.Gray](), reflect.TypeFor[image.YCbCr](),
		reflect.TypeFor[image.RGBA64](), reflect.TypeFor[image.NRGBA64](), reflect.TypeFor[image.Gray16](), reflect.TypeFor[image.NYCbCrA](),
		reflect.TypeFor[image.Paletted](), reflect.TypeFor[image.CMYK](), reflect.TypeFor[image.Alpha](), reflect.TypeFor[image.Alpha16](),
		reflect.TypeFor[image.Uniform](),
		reflect.TypeFor[color.RGBA](), reflect.TypeFor[color.NRGBA](), reflect.TypeFor[color.Gray](), reflect.TypeFor[color.YCbCr](),
		reflect.TypeFor[color.RGBA64](), reflect.TypeFor[color.NRGBA64](), reflect.TypeFor[color.Gray16](), reflect.TypeFor[color.NYCbCrA](),
		reflect.TypeFor[color.CMYK](), reflect.TypeFor[color.Alpha](), reflect.TypeFor[color.Alpha16](),
	} {
		register(t)
	}
}

// RegisterType allows Ts and pointers to them in interfaces of encoded values. Every
// program that writes or reads such values calls it at its start, in an init function. T
// must have a name. Of two types with the same package and name (declared in functions),
// neither is encoded, and the second panics. RegisterType also panics if T cannot be
// encoded or is unnamed.
func RegisterType[T any]() {
	t := reflect.TypeFor[T]()
	if t.Name() == "" || t.Kind() == reflect.Interface {
		panic(fmt.Errorf("codec: type %v has no name; declare it", t))
	}
	if t.PkgPath() == "" {
		return // predeclared
	}
	register(t)
	if _, err := planBehind(t); err != nil {
		panic(err)
	}
}

func register(t reflect.Type) {
	named.Lock()
	defer named.Unlock()
	name := quotedName(t)
	if other, taken := named.types[name]; taken && other != t {
		t = nil
	}
	named.types[name] = t
}

// typeNamed returns the type with a quoted name, or nil.
func typeNamed(name string) reflect.Type {
	named.RLock()
	defer named.RUnlock()
	return named.types[name]
}

func quotedName(t reflect.Type) string { return strconv.Quote(t.PkgPath() + "." + t.Name()) }

// implemented reports whether a known type, or a pointer to one, implements an interface.
func implemented(face reflect.Type) bool {
	if face.NumMethod() == 0 {
		return true
	}
	named.RLock()
	defer named.RUnlock()
	for _, t := range named.types {
		if t != nil && (t.Implements(face) || reflect.PointerTo(t).Implements(face)) {
			return true
		}
	}
	return false
}

// behind holds a *plan for each type found in an interface.
var behind sync.Map // by reflect.Type

// planBehind returns the plan of a type in an interface.
func planBehind(t reflect.Type) (*plan, error) {
	if p, ok := behind.Load(t); ok {
		return p.(*plan), nil
	}
	if _, err := typeText(t); err != nil {
		return nil, err
	}
	m := planner{plans: map[reflect.Type]*plan{}}
	p, err := m.plan("", t)
	if err != nil {
		return nil, err
	}
	behind.Store(t, p)
	return p, nil
}

// typeOf writes a type: its index among the common ones and the earlier ones, or its text.
func (w *cborWriter) typeOf(t reflect.Type) error {
	if w.types == nil {
		w.types = make(map[reflect.Type]uint64, len(common))
		for i, c := range common {
			w.types[c] = uint64(i)
		}
	}
	if n, ok := w.types[t]; ok {
		w.head(majorUint, n)
		return nil
	}
	text, err := typeText(t)
	if err != nil {
		return err
	}
	w.types[t] = uint64(len(w.types))
	w.string(text)
	return nil
}

func (r *cborReader) typeOf() reflect.Type {
	if r.types == nil {
		r.types = common[:len(common):len(common)]
	}
	if r.peek()&^31 == majorUint {
		if n := r.uint(); n < uint64(len(r.types)) {
			return r.types[n]
		}
		r.fail("an unknown type behind an interface")
		return common[0]
	}
	text := r.string()
	if r.err != nil {
		return common[0]
	}
	t, err := parseType(text)
	if err != nil {
		r.fail("%v", err)
		return common[0]
	}
	r.types = append(r.types, t)
	return t
}

// typeText formats a type as [parseType] reads it: a named type with its fingerprint, so
// that a changed type is not mistaken for it.
func typeText(t reflect.Type) (string, error) {
	if t.Name() != "" {
		if basic[t.Name()] == t {
			return t.Name(), nil
		}
		if name := quotedName(t); typeNamed(name) == t {
			return fmt.Sprintf("%s#%016x", name, fingerprint("", t)), nil
		}
	} else {
		switch t.Kind() {
		case reflect.Pointer:
			return textOf("*", t.Elem())
		case reflect.Slice:
			return textOf("[]", t.Elem())
		case reflect.Array:
			if t.Size() > maxArray {
				break
			}
			return textOf("["+strconv.Itoa(t.Len())+"]", t.Elem())
		case reflect.Map:
			k, err := typeText(t.Key())
			if err != nil {
				return "", err
			}
			return textOf("map["+k+"]", t.Elem())
		case reflect.Interface, reflect.Struct:
			for _, name := range []string{"any", "struct{}"} {
				if t == basic[name] {
					return name, nil
				}
			}
		}
	}
	return "", &UnencodableError{What: "behind an interface a value", Type: t,
		Fix: "use a concrete type instead of the interface, or register it with codec.RegisterType at program start"}
}

func textOf(prefix string, elem reflect.Type) (string, error) {
	text, err := typeText(elem)
	return prefix + text, err
}

// Bounds on types built from their text, because types are never freed.
const (
	maxTypeText = 1 << 10
	maxArray    = 1 << 16 // bytes of an array
)

// parseType reads what typeText wrote.
func parseType(text string) (reflect.Type, error) {
	if len(text) > maxTypeText {
		return nil, fmt.Errorf("a type of %d bytes", len(text))
	}
	t, rest, err := parsePrefix(text)
	if err == nil && rest != "" {
		err = fmt.Errorf("%q follows after a type", rest)
	}
	return t, err
}

// parsePrefix reads the type at the start of text.
func parsePrefix(text string) (t reflect.Type, rest string, err error) {
	switch {
	case strings.HasPrefix(text, `"`):
		return parseNamed(text)
	case strings.HasPrefix(text, "*"):
		t, rest, err = parsePrefix(text[1:])
		if err == nil {
			t = reflect.PointerTo(t)
		}
	case strings.HasPrefix(text, "[]"):
		t, rest, err = parsePrefix(text[2:])
		if err == nil {
			t = reflect.SliceOf(t)
		}
	case strings.HasPrefix(text, "["):
		return parseArray(text)
	case strings.HasPrefix(text, "map["):
		return parseMap(text)
	default:
		for i := 0; i <= len(text); i++ {
			if i == len(text) || text[i] == ']' {
				if t = basic[text[:i]]; t != nil {
					return t, text[i:], nil
				}
				break
			}
		}
		err = fmt.Errorf("an unknown type %q", text)
	}
	return t, rest, err
}

func parseNamed(text string) (reflect.Type, string, error) {
	const hexDigits = 16
	name, err := strconv.QuotedPrefix(text)
	if err != nil {
		return nil, "", err
	}
	t, rest := typeNamed(name), text[len(name):]
	if t == nil {
		return nil, "", fmt.Errorf("the type %s is not registered", name)
	}
	if sum := fmt.Sprintf("#%016x", fingerprint("", t)); !strings.HasPrefix(rest, sum) {
		return nil, "", fmt.Errorf("the type %s has changed", name)
	}
	return t, rest[1+hexDigits:], nil
}

func parseArray(text string) (reflect.Type, string, error) {
	length, elem, _ := strings.Cut(text[1:], "]")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, "", fmt.Errorf("no length of an array: %q", length)
	}
	t, rest, err := parsePrefix(elem)
	if err != nil {
		return nil, "", err
	}
	if n > maxArray || uintptr(n)*t.Size() > maxArray {
		return nil, "", fmt.Errorf("an array of %d times %d bytes", n, t.Size())
	}
	return reflect.ArrayOf(n, t), rest, nil
}

func parseMap(text string) (reflect.Type, string, error) {
	k, rest, err := parsePrefix(text[len("map["):])
	if err != nil {
		return nil, "", err
	}
	rest, closed := strings.CutPrefix(rest, "]")
	if !closed || !k.Comparable() {
		return nil, "", fmt.Errorf("no map: %q", text)
	}
	t, rest, err := parsePrefix(rest)
	if err != nil {
		return nil, "", err
	}
	return reflect.MapOf(k, t), rest, nil
}
