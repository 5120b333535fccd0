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

const elementsOnly = "# stands for an element, and so only within a function of a list, such as filter(list, # > 1)"

// sayings are for errors in the syntax of a formula, which the library finds. This
// package checks its values (metered.go, do.go).
var sayings = []saying{
	says(`^unexpected token EOF$|^unexpected end of expression$`, "it ends where more is needed"),
	says(`^unexpected token Operator\("="\)$`, "= cannot stand here; == compares"),
	says(`^unexpected token Operator\("#"\)$|^cannot use pointer accessor outside`, elementsOnly),
	says(`(?s)^unexpected token \w+\((".*")\)$`, "%s cannot stand here"),
	says(`^unexpected token (?:String|Bytes)$`, `"" cannot stand here`),
	says(`^unrecognized character: U\+\w+ ?(.*)$`, "%s cannot stand here"),
	says(`^literal not terminated$`, "a text begins here, or before, that does not end: a quote is missing"),
	says(`^invalid char escape$|^unable to unescape|^too large string$`, `the text has an escape that there is not; a backslash is written \\`),
	says(`^unclosed comment$`, "the comment does not end: */ is missing"),
	says(`^invalid (?:integer|hex|octal|binary) literal: .*parsing "(.*)": value out of range$`, "%s is beyond whole numbers of 64 bits; write it with .0 where it need not be exact"),
	says(`^invalid \w+ literal: .*parsing (".*"): value out of range$`, "%s is beyond the range of numbers"),
	says(`^invalid \w+ literal: .*parsing (".*"): .*$`, "%s is no number"),
	says(`^bad number syntax: (".*")$`, "%s is no number"),
	says(`^(?:integer|float) literal is too large$`, "the number is beyond the range of numbers"),
	says(`^a map key must be `, `a mapping begins here, and a name is missing in it, as in {"a": 1}`),
	says(`exceeds maximum allowed nodes`, tooLong),
	says(`cannot be mixed\. Wrap either by parentheses`, "put parentheses around ?? and what stands beside it"),
	says(`^expected name$`, "a name is missing here"),
	says(`^wrap predicate with brackets`, "put { and } around what is done with each element"),
	says(`^cannot redeclare (?:\w+ )?(\S+)$`, "let cannot give the name %s, which is taken; choose another"),
	says(`^empty sequence expression$`, "a value is missing here"),
	says(`^unknown pointer (#.*)$`, "there is no %s here; # is the element, #index its number within map and reduce, and #acc in reduce what came before"),
	says(`^expected at least \d+ arguments$`, "values are missing in the parentheses"),
	says(`^reduce of empty array`, "reduce of an empty list needs a third value, to begin with"),
	says(`^memory budget exceeded$`, "the evaluation makes more than is allowed; make the expression do less, or the items smaller"),
}
