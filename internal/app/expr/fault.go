package expr

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"
)

// A fault is what is wrong with a formula or an evaluation, in words. What the language
// itself finds wrong is put into words by say.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

func faultf(format string, args ...any) error {
	for i, a := range args {
		if s, ok := a.(string); ok && len(s) > mostShown {
			args[i] = strings.ToValidUTF8(s[:mostShown], "") + "..."
		}
	}
	return &fault{fmt.Sprintf(format, args...)}
}

// mostShown is how many bytes of a text there are in a message: a name may be made of
// data.
const mostShown = 1000

// faultAt is a fault at a place of a formula.
func faultAt(at file.Location, text string) error {
	return &file.Error{Location: at, Message: text, Prev: &fault{text}}
}

// fail ends an evaluation, or a part of it that says so.
func fail(format string, args ...any) { panic(faultf(format, args...)) }

func overflow(format string, args ...any) error {
	return faultf(format+" is beyond whole numbers of 64 bits; write float(...) where it need not be exact", args...)
}
