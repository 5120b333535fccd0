package csvtext

import (
	"encoding/csv"
	"errors"
	"fmt"
)

// A FieldsError is the error of a row with more or fewer fields than columns.
type FieldsError struct{ Has, Needs int }

func (e FieldsError) Error() string {
	return fmt.Sprintf("this row has %d of the %d fields: put quotes around a field that has a delimiter or a line break in it", e.Has, e.Needs)
}

// Is reports whether target is csv.ErrFieldCount.
func (e FieldsError) Is(target error) bool { return target == csv.ErrFieldCount }

// Explain returns a human-readable reason of a [*csv.ParseError].
func Explain(reason error) string {
	switch {
	case errors.Is(reason, csv.ErrBareQuote):
		return `a quote (") stands within a field that has no quotes around it: quote the field, and write "" for a quote in it`
	case errors.Is(reason, csv.ErrQuote):
		return `a field in quotes does not end, or more follows after its end: write "" for a quote in it`
	}
	return reason.Error()
}
