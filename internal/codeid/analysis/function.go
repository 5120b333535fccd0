package analysis

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/internal/values/executable"
)

// A Function is a function value, located in the executable.
type Function struct {
	Package string // import path; for a main package the path that it is built from
	Symbol  string // within the package: "area", "Shape.Area", "init.func1"
	File    string // base name
	Line    int    // of the keyword func
	typ     reflect.Type
	state   bool // it carries variables, as far as the executable shows
	unsure  bool // the executable does not show it
}

// errNoFunction is returned for values that are not functions.
var errNoFunction = errors.New("codeid: not a function")

// errElsewhere is returned for a function that was loaded at run time.
var errElsewhere = errors.New("codeid: the function is of a plugin, which the build of the program does not cover: give it a Version")

// FunctionOf locates the function value f.
func FunctionOf(f any) (Function, error) {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return Function{}, errNoFunction
	}
	code := runtime.FuncForPC(v.Pointer())
	if code == nil {
		return Function{}, errNoFunction
	}
	if executable.Elsewhere(v.Pointer()) {
		return Function{}, errElsewhere
	}
	file, line := begin(code)
	pkg, symbol := executable.Package(code.Name(), file)
	if (Function{Symbol: symbol}).literal() {
		pkg = holder(pkg, file)
	}
	type face struct{ typ, value unsafe.Pointer } // memory layout of an interface
	static, known := executable.Static(uintptr((*face)(unsafe.Pointer(&f)).value))
	return Function{
		Package: pkg, Symbol: symbol, File: path.Base(file), Line: line,
		typ: v.Type(), state: known && !static, unsure: !known,
	}, nil
}

// begin returns the position of the func keyword of a function. Its first instruction may
// belong to an inlined function.
func begin(code *runtime.Func) (file string, line int) {
	frames := runtime.CallersFrames([]uintptr{code.Entry() + 1})
	for {
		frame, more := frames.Next()
		if !more {
			return frame.File, frameStartLine(&frame)
		}
	}
}

// frameStartLine returns the line of the func keyword. Package runtime provides it only to
// runtime/pprof, for profiles.
//
//go:linkname frameStartLine runtime/pprof.runtime_FrameStartLine
func frameStartLine(*runtime.Frame) int

// Name returns the symbol with its package.
func (f Function) Name() string { return f.Package + "." + f.Symbol }

// Types formats the parameter and result types of the function, with the paths of their
// packages.
func (f Function) Types() string { return TypeText(f.typ) }

// TypeText formats a type with the paths of all packages in it.
func TypeText(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch {
	case t.Name() != "" && t.PkgPath() != "":
		return t.PkgPath() + "." + t.Name()
	case t.Name() != "":
		return t.Name()
	}
	switch t.Kind() {
	case reflect.Func:
		text := "func("
		for in := range t.Ins() {
			text += TypeText(in) + ","
		}
		text += ")"
		for out := range t.Outs() {
			text += TypeText(out) + ","
		}
		return text
	case reflect.Slice:
		return "[]" + TypeText(t.Elem())
	case reflect.Pointer:
		return "*" + TypeText(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), TypeText(t.Elem()))
	case reflect.Map:
		return "map[" + TypeText(t.Key()) + "]" + TypeText(t.Elem())
	}
	return t.String()
}

// Registered reports whether the function's package is registered.
func (f Function) Registered() bool { return known(f.Package) != nil }

// OfLibrary reports whether the function is in the standard library.
func (f Function) OfLibrary() bool { return std.Has(f.Package) }

// literal reports whether f is a function literal: the linker calls it func1, or 1 in
// another one.
func (f Function) literal() bool {
	last := f.Symbol[strings.LastIndexByte(f.Symbol, '.')+1:]
	number := strings.TrimPrefix(last, "func")
	return number != "" && strings.Trim(number, "0123456789-") == ""
}

// CheckLibrary returns an error for a function of the standard library that reads the
// outside or is unknown, unless it is declared as Pure: no build covers what it reads.
func (f Function) CheckLibrary(pure []string) error {
	if !std.Has(f.Package) {
		return nil
	}
	name := f.Package + "." + strings.TrimSuffix(symbolOf(f.Symbol), "-fm")
	fact, known := std.Lookup(name)
	switch {
	case covers(pure, name) || covers(pure, f.Package):
	case !known:
		return fmt.Errorf("%s is in the standard library, and its effects are unknown; declare it as Pure, or give it a Version", name)
	case fact.Outside != "":
		return fmt.Errorf("%s depends on %s, which no code identity covers: declare it as Pure, or give it a Version", name, fact.Outside)
	}
	return nil
}

// IsBound reports whether the function is a method with its receiver.
func (f Function) IsBound() bool { return strings.HasSuffix(f.Symbol, "-fm") }

// HasState reports whether the function may carry variables in addition to its code.
func (f Function) HasState() bool { return f.state || f.unsure && f.literal() }

// CheckState returns an error for a function that carries state not visible in its name:
// the receiver of a method value, or captured variables. If the system does not show which
// memory is the program's text, literals of unregistered packages are refused.
func (f Function) CheckState() error {
	switch {
	case f.IsBound():
		return fmt.Errorf("%s is a method bound to a value that no key covers: use the method expression (%s) and pass the value as an argument",
			f.Name(), strings.TrimSuffix(f.Symbol, "-fm"))
	case f.unsure && f.literal() && !f.Registered():
		return fmt.Errorf("%s (%s:%d) may capture variables, which this system cannot determine; register the sources of its package, or use a named function",
			f.Name(), f.File, f.Line)
	case f.state && f.literal() && f.Registered():
		return nil // the sources show its captures; in a generic function it carries type arguments
	case f.state:
		return fmt.Errorf("%s (%s:%d) captures variables that no key covers: pass them as arguments, or declare their values as Captured",
			f.Name(), f.File, f.Line)
	}
	return nil
}
