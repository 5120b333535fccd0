package expr

import (
	"fmt"
	"regexp"
)

// A messageRule converts messages of the library that match a pattern, with their
// submatches.
type messageRule struct {
	is *regexp.Regexp
	as func(m []string) string
}

// rule returns a messageRule with a format for the submatches.
func rule(is, as string) messageRule {
	return messageRule{regexp.MustCompile(is), func(m []string) string {
		args := make([]any, len(m)-1)
		for i := range args {
			args[i] = m[i+1]
		}
		return fmt.Sprintf(as, args...)
	}}
}

const elementsOnly = "# is the element in a list function, such as filter(list, # > 1)"

// messageRules are for errors in the syntax of a formula, which the library finds. This
// package checks its values (metered.go, do.go).
var messageRules = []messageRule{
	rule(`^unexpected token EOF$|^unexpected end of expression$`, "unexpected end of the expression"),
	rule(`^unexpected token Operator\("="\)$`, "unexpected =; use == to compare"),
	rule(`^unexpected token Operator\("#"\)$|^cannot use pointer accessor outside`, elementsOnly),
	rule(`(?s)^unexpected token \w+\((".*")\)$`, "unexpected %s"),
	rule(`^unexpected token (?:String|Bytes)$`, `unexpected ""`),
	rule(`^unrecognized character: U\+\w+ ?(.*)$`, "unexpected %s"),
	rule(`^literal not terminated$`, "unterminated string; add the closing quote"),
	rule(`^invalid char escape$|^unable to unescape|^too large string$`, `unknown escape in the string; write \\ for a backslash`),
	rule(`^unclosed comment$`, "unterminated comment; add */"),
	rule(`^invalid (?:integer|hex|octal|binary) literal: .*parsing "(.*)": value out of range$`, "%s exceeds 64-bit integers; append .0 for an approximate number"),
	rule(`^invalid \w+ literal: .*parsing (".*"): value out of range$`, "%s exceeds the range of numbers"),
	rule(`^invalid \w+ literal: .*parsing (".*"): .*$`, "%s is not a number"),
	rule(`^bad number syntax: (".*")$`, "%s is not a number"),
	rule(`^(?:integer|float) literal is too large$`, "the number exceeds the range of numbers"),
	rule(`^a map key must be `, `a key is missing in the mapping; write one as in {"a": 1}`),
	rule(`exceeds maximum allowed nodes`, tooLong),
	rule(`cannot be mixed\. Wrap either by parentheses`, "put parentheses around ?? and its operands"),
	rule(`^expected name$`, "a name is missing here"),
	rule(`^wrap predicate with brackets`, "put { } around the function of an element"),
	rule(`^cannot redeclare (?:\w+ )?(\S+)$`, "let: the name %s is already used; choose another"),
	rule(`^empty sequence expression$`, "a value is missing here"),
	rule(`^unknown pointer (#.*)$`, "unknown %s; use # (element), #index (in map and reduce) or #acc (in reduce)"),
	rule(`^expected at least \d+ arguments$`, "arguments are missing"),
	rule(`^reduce of empty array`, "reduce of an empty list needs an initial value as third argument"),
	rule(`^memory budget exceeded$`, "the evaluation exceeds the memory limit; simplify the expression, or use smaller items"),
}
