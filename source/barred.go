package source

import (
	"fmt"
	"reflect"

	"github.com/larder-data/larder/internal/program"
)

// Admits returns an error for a value that the function must not be given: one
// that has, behind an interface, a value of a type in [Closure.Barred].
func (c *Closure) Admits(v any) error {
	if len(c.Barred) == 0 {
		return nil
	}
	return c.admits(reflect.ValueOf(v), 0)
}

// maxValueDepth bounds how deep values are looked into, for those that contain
// themselves.
const maxValueDepth = 1000

func (c *Closure) admits(v reflect.Value, depth int) error {
	if !v.IsValid() || depth > maxValueDepth {
		return nil
	}
	t := v.Type()
	if t.PkgPath() != "" {
		path, _ := program.Package(t.PkgPath()+".", "")
		if why, ok := c.Barred[path+"."+t.Name()]; ok {
			return fmt.Errorf("source: it is given a %v, whose methods reach %s, which no code identity covers: pass another type, or declare that as Pure", t, why)
		}
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return c.admits(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if err := c.admits(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		if flatKind(t.Elem().Kind()) {
			return nil
		}
		for i := range v.Len() {
			if err := c.admits(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := c.admits(it.Key(), depth+1); err != nil {
				return err
			}
			if err := c.admits(it.Value(), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// flatKind reports whether values of a kind have nothing in them.
func flatKind(k reflect.Kind) bool { return k < reflect.Array || k == reflect.String }
