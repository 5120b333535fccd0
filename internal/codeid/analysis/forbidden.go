package analysis

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/internal/values/executable"
)

// ofModules is the name under which types of unregistered modules are forbidden.
const ofModules = ""

// CheckValue returns an error for a value that the function must not receive: one that
// contains, in an interface, a value of a type in ForbiddenTypes.
func (c *Closure) CheckValue(v any) error {
	if len(c.ForbiddenTypes) == 0 && !c.Opens {
		return nil
	}
	return (&admission{Closure: c}).admits(reflect.ValueOf(v))
}

// maxValueDepth is far more than keys allow.
const maxValueDepth = 100_000

// An admission is one traversal of a value.
type admission struct {
	*Closure
	seen  map[reference]bool
	depth int
}

// A reference is a pointer, a map or a slice: values may contain themselves, and share
// parts.
type reference struct {
	at  uintptr
	len int
	of  reflect.Type
}

// entered reports whether a value refers to something already traversed.
func (a *admission) entered(v reflect.Value) bool {
	r := reference{at: v.Pointer(), of: v.Type()}
	if v.Kind() == reflect.Slice {
		r.len = v.Len()
	}
	if a.seen[r] {
		return true
	}
	if a.seen == nil {
		a.seen = map[reference]bool{}
	}
	a.seen[r] = true
	return false
}

func (a *admission) admits(v reflect.Value) error {
	if !v.IsValid() {
		return nil
	}
	if a.depth++; a.depth > maxValueDepth {
		return fmt.Errorf("codeid: it is given a value that is nested deeper than %d levels", maxValueDepth)
	}
	defer func() { a.depth-- }()
	t := v.Type()
	if a.clean(t) {
		return nil
	}
	if why := a.bars(t); why != "" {
		return fmt.Errorf("codeid: it is given a %v, whose methods reach %s, which no code identity covers: %s", t, why, fixOf(t))
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.entered(v) {
			return nil
		}
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return a.admits(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if err := a.admits(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := a.admits(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := a.admits(it.Key()); err != nil {
				return err
			}
			if err := a.admits(it.Value()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Covers reports whether a type, or the type it points to, is declared as Pure.
func Covers(pure []string, t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	path := runtimePath(t.PkgPath())
	return path != "" && (covers(pure, path) || covers(pure, path+"."+t.Name()))
}

// fixOf tells how to fix a forbidden type: if its sources are missing, registering them may
// help.
func fixOf(t reflect.Type) string {
	at := runtimePath(t.PkgPath())
	if !std.Has(at) && known(at) == nil && buildNow().local(at) {
		return fmt.Sprintf("register the sources of package %s (codeid.Register), or pass another type", at)
	}
	return "pass another type, or declare that as Pure"
}

// clean reports whether no value of a type can contain a forbidden one, so that long lists
// need no traversal.
func (c *Closure) clean(t reflect.Type) bool {
	if known, ok := c.cleanTypes.Load(t); ok {
		return known.(bool)
	}
	clean := c.isClean(t, map[reflect.Type]bool{})
	c.cleanTypes.Store(t, clean)
	return clean
}

func (c *Closure) isClean(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true // until found otherwise
	}
	seen[t] = true
	if t.Kind() == reflect.Interface || c.bars(t) != "" {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return c.isClean(t.Elem(), seen)
	case reflect.Map:
		return c.isClean(t.Key(), seen) && c.isClean(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if !c.isClean(f.Type, seen) {
				return false
			}
		}
	}
	return true
}

// bars returns why values of a type are forbidden, or "".
func (c *Closure) bars(t reflect.Type) string {
	if t.PkgPath() == "" {
		return ""
	}
	path := runtimePath(t.PkgPath())
	if why, ok := c.ForbiddenTypes[path+"."+t.Name()]; ok {
		return why
	}
	if std.Has(path) {
		return c.barsLibrary(t, path)
	}
	why, ok := c.ForbiddenTypes[ofModules]
	if !ok || !strings.Contains(t.Name(), "[") && reflect.PointerTo(t).NumMethod() == 0 {
		return ""
	}
	for _, part := range typeNames(path, t.Name()) {
		at := runtimePath(part[0])
		own := std.Has(at) || ofLarder(at) || known(at) != nil || c.Kind == Program && buildNow().local(at)
		if at != "" && !own && !covers(c.Trusted, at) && !covers(c.Trusted, at+"."+part[1]) {
			return why
		}
	}
	return ""
}

// buildNow caches thisBuild.
var buildNow = sync.OnceValue(thisBuild)

// runtimePath returns the registered path of a package. Types of main packages have "main"
// there; nothing else tells the path of one that is built from a list of files.
func runtimePath(path string) string {
	if path != "main" {
		return path
	}
	registry.Lock()
	defer registry.Unlock()
	own, _ := executable.Package("main.", "")
	for _, p := range registrations() {
		if p.path == own || executable.IsFiles(own) && executable.IsFiles(p.path) {
			return p.path
		}
	}
	return own
}

// barsLibrary returns why values of a standard library type are forbidden, or "".
func (c *Closure) barsLibrary(t reflect.Type, path string) string {
	if !c.Opens {
		return ""
	}
	for m := range reflect.PointerTo(t).Methods() {
		if why := readsByMethod(path+"."+t.Name(), m.Name); why != "" && !covers(c.Trusted, path) && !covers(c.Trusted, path+"."+t.Name()+"."+m.Name) {
			return why
		}
	}
	return ""
}
