package expression

import (
	"errors"
	"testing"
)

// TestInPlain: errors of the language name no types of Go.
func TestInPlain(t *testing.T) {
	for was, want := range map[string]string{
		"invalid operation: image.RGBA > int (1:7)":                                        "an image > a whole number cannot be done (1:7)",
		"invalid operation: string + int (1:17)":                                           "a text + a whole number cannot be done (1:17)",
		"invalid operation: map[string]interface {} > int (1:10)":                          "a mapping > a whole number cannot be done (1:10)",
		"invalid operation: int(string) (1:17)":                                            "a text has no parts of a name (1:17)",
		"invalid operation: int(x) (1:1)":                                                  "x is no number (1:1)",
		"invalid operation: - map[string]interface {} (1:1)":                               "- a mapping cannot be done (1:1)",
		"invalid operation: in (mismatched types unknown and int) (1:10)":                  "in needs a list, a mapping or a text after it, not a whole number (1:10)",
		"invalid argument for len (type int) (1:1)":                                        "len cannot be done with a whole number (1:1)",
		"cannot use int as argument (type string) to call upper  (1:7)":                    "upper needs a text, not a whole number (1:7)",
		"interface conversion: interface {} is map[string]interface {}, not bool (1:1)":    "it is a mapping, and must be a truth value (1:1)",
		"builtin map takes only array (got int) (1:5)":                                     "map needs a list, not a whole number (1:5)",
		"cannot fetch foo from *image.RGBA (1:7)":                                          "there is no foo in an image (1:7)",
		"reflect.Value.MapIndex: value of type int is not assignable to type string (1:9)": "the names in a mapping are texts, and this is a whole number (1:9)",
		"integer divide by zero (1:3)":                                                     "a division by zero (1:3)",
		"metadata.letter has no \"lettr\"; did you mean \"letter\"?":                       "metadata.letter has no \"lettr\"; did you mean \"letter\"?",
		"unexpected token EOF (1:9)":                                                       "unexpected token EOF (1:9)",
	} {
		if got := inPlain(errors.New(was)).Error(); got != want {
			t.Errorf("%q is %q, want %q", was, got, want)
		}
	}
}
