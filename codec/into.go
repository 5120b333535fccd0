package codec

import (
	"fmt"
	"reflect"

	"github.com/larder-data/larder/internal/text/display"
)

// DecodeInto decodes b with c into the value that ptr points to. That value may always have
// the type that c.Decode returns. JSON and YAML also fill structures and other types, by
// the rules of encoding/json and go.yaml.in/yaml: fields without counterpart in b stay, and
// parts of b without counterpart are ignored.
func DecodeInto(c Codec, b []byte, ptr any) error {
	target := reflect.ValueOf(ptr)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("codec: %s: decoding needs a pointer, not a %T", c.Name, ptr)
	}
	target = target.Elem()
	if c.Into != nil && !untyped(target.Type()) {
		return c.Into(b, ptr)
	}
	v, err := c.Decode(b)
	if err != nil {
		return err
	}
	value := reflect.ValueOf(v)
	switch {
	case !value.IsValid():
		target.SetZero()
	case value.Type().AssignableTo(target.Type()):
		target.Set(value)
	default:
		return fmt.Errorf("codec: %s: the value is %s, not a %v", c.Name, display.Value(v), target.Type())
	}
	return nil
}

// untyped reports whether t is a type that documents decode to without a target.
func untyped(t reflect.Type) bool {
	return t == reflect.TypeFor[any]() || t == reflect.TypeFor[map[string]any]() || t == reflect.TypeFor[[]any]()
}
