package expr

import (
	"fmt"
	"regexp"
)

// A saying converts messages of the library that match a pattern, with their
// submatches.
type saying struct {
	is *regexp.Regexp
	as func(m []string) string
}

// says returns a saying with a format for the submatches.
func says(is, as string) saying {
	return saying{regexp.MustCompile(is), func(m []string) string {
		args := make([]any, len(m)-1)
		for i := range args {
			args[i] = m[i+1]
		}
		return fmt.Sprintf(as, args...)
	}}
}

const elementsOnly = "# is the element in a list function, such as filter(list, # > 1)"

// sayings are for errors in the syntax of a formula, which the library finds. This
// package checks its values (metered.go, do.go).
var sayings = []saying{
	says(`^unexpected token EOF$|^unexpected end of expression$`, "unexpected end of the expression"),
	says(`^unexpected token Operator\("="\)$`, "unexpected =; use == to compare"),
	says(`^unexpected token Operator\("#"\)$|^cannot use pointer accessor outside`, elementsOnly),
	says(`(?s)^unexpected token \w+\((".*")\)$`, "unexpected %s"),
	says(`^unexpected token (?:String|Bytes)$`, `unexpected ""`),
	says(`^unrecognized character: U\+\w+ ?(.*)$`, "unexpected %s"),
	says(`^literal not terminated$`, "unterminated string; add the closing quote"),
	says(`^invalid char escape$|^unable to unescape|^too large string$`, `unknown escape in the string; write \\ for a backslash`),
	says(`^unclosed comment$`, "unterminated comment; add */"),
	says(`^invalid (?:integer|hex|octal|binary) literal: .*parsing "(.*)": value out of range$`, "%s exceeds 64-bit integers; append .0 for an approximate number"),
	says(`^invalid \w+ literal: .*parsing (".*"): value out of range$`, "%s exceeds the range of numbers"),
	says(`^invalid \w+ literal: .*parsing (".*"): .*$`, "%s is not a number"),
	says(`^bad number syntax: (".*")$`, "%s is not a number"),
	says(`^(?:integer|float) literal is too large$`, "the number exceeds the range of numbers"),
	says(`^a map key must be `, `a key is missing in the mapping; write one as in {"a": 1}`),
	says(`exceeds maximum allowed nodes`, tooLong),
	says(`cannot be mixed\. Wrap either by parentheses`, "put parentheses around ?? and its operands"),
	says(`^expected name$`, "a name is missing here"),
	says(`^wrap predicate with brackets`, "put { } around the function of an element"),
	says(`^cannot redeclare (?:\w+ )?(\S+)$`, "let: the name %s is already used; choose another"),
	says(`^empty sequence expression$`, "a value is missing here"),
	says(`^unknown pointer (#.*)$`, "unknown %s; use # (element), #index (in map and reduce) or #acc (in reduce)"),
	says(`^expected at least \d+ arguments$`, "arguments are missing"),
	says(`^reduce of empty array`, "reduce of an empty list needs an initial value as third argument"),
	says(`^memory budget exceeded$`, "the evaluation exceeds the memory limit; simplify the expression, or use smaller items"),
}
