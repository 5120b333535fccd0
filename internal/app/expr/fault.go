package expr

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"
)

// A fault is an error in a formula or an evaluation, as readable text. say converts
// errors of the library.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

func faultf(format string, args ...any) error {
	for i, a := range args {
		if s, ok := a.(string); ok && len(s) > maxShown {
			args[i] = strings.ToValidUTF8(s[:maxShown], "") + "..."
		}
	}
	return &fault{fmt.Sprintf(format, args...)}
}

// maxShown bounds a string in a message, in bytes: a name may come from data.
const maxShown = 1000

func faultAt(at file.Location, text string) error {
	return &file.Error{Location: at, Message: text, Prev: &fault{text}}
}

// fail ends an evaluation by a panic with a fault.
func fail(format string, args ...any) { panic(faultf(format, args...)) }

func overflow(format string, args ...any) error {
	return faultf(format+" exceeds 64-bit integers; use float(...) for an approximate result", args...)
}
