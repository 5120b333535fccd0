package expression

import (
	"fmt"

	"github.com/expr-lang/expr/file"
)

// A fault is what is wrong with a formula or an evaluation, in words. What the language
// itself finds wrong is put into words by say.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

func faultf(format string, args ...any) error { return &fault{fmt.Sprintf(format, args...)} }

// faultAt is a fault at a place of a formula.
func faultAt(at file.Location, text string) error {
	return &file.Error{Location: at, Message: text, Prev: &fault{text}}
}

// fail ends an evaluation, or a part of it that says so.
func fail(format string, args ...any) { panic(faultf(format, args...)) }

func overflow(format string, args ...any) error {
	return faultf(format+" is beyond whole numbers of 64 bits; write float(...) where it need not be exact", args...)
}
