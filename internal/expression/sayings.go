package expression

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/larder-data/larder/internal/called"
)

// A saying is what is said in place of messages of the language that look so. It gets
// the parts of the message, and the name at which it was found.
type saying struct {
	is *regexp.Regexp
	as func(m []string, name string) string
}

// text makes a saying that is the same for all.
func text(is, as string) saying {
	return saying{regexp.MustCompile(is), func([]string, string) string { return as }}
}

// kinds makes a saying of kinds of values: the message has their types of Go.
func kinds(is, as string, types ...int) saying {
	return saying{regexp.MustCompile(is), func(m []string, _ string) string {
		args := make([]any, len(m)-1)
		for i := range args {
			args[i] = m[i+1]
		}
		for _, i := range types {
			args[i-1] = kind(m[i])
		}
		return fmt.Sprintf(as, args...)
	}}
}

// about makes a saying of the function at which something was found.
func about(is, as string) saying {
	return saying{regexp.MustCompile(is), func(m []string, name string) string {
		return fmt.Sprintf(as, name, kind(m[1]))
	}}
}

var sayings = []saying{
	// What is not of the language.
	text(`^unexpected token EOF$|^unexpected end of expression$`, "it ends where more is needed"),
	text(`^unexpected token Operator\("="\)$`, "= cannot stand here; == compares"),
	text(`^unexpected token Operator\("#"\)$`, "# stands for an element, and so only within a function of a list, such as filter(list, # > 1)"),
	kinds(`(?s)^unexpected token \w+\((".*")\)$`, "%s cannot stand here"),
	kinds(`^unrecognized character: U\+\w+ ?(.*)$`, "%s cannot stand here"),
	text(`^literal not terminated$`, "a text begins here, or before, that does not end: a quote is missing"),
	text(`^invalid char escape$|^unable to unescape|^too large string$`, `the text has an escape that there is not; a backslash is written \\`),
	text(`^unclosed comment$`, "the comment does not end: */ is missing"),
	kinds(`^invalid \w+ literal: \w+\.\w+: parsing (".*"): value out of range$`, "%s is beyond the range of numbers"),
	kinds(`^invalid \w+ literal: \w+\.\w+: parsing (".*"): .*$`, "%s is no number"),
	kinds(`^bad number syntax: (".*")$`, "%s is no number"),
	text(`^(?:integer|float) literal is too large$`, "the number is beyond the range of numbers"),
	text(`^a map key must be `, `a mapping begins here, and a name is missing in it, as in {"a": 1}`),
	text(`exceeds maximum allowed nodes`, "the expression is too long"),
	text(`cannot be mixed\. Wrap either by parentheses`, "put parentheses around ?? and what stands beside it"),
	text(`^expected name$`, "a name is missing here"),
	text(`^wrap predicate with brackets`, "put { and } around what is done with each element"),
	kinds(`^error parsing regexp: (.*)$`, "the regular expression is wrong: %s"),
	kinds(`^cannot redeclare (?:\w+ )?(\S+)$`, "let cannot give the name %s, which is taken; choose another"),
	text(`^empty sequence expression$`, "a value is missing here"),
	text(`^cannot use pointer accessor outside`, "# stands for an element, and so only within a function of a list, such as filter(list, # > 1)"),

	// What is of the wrong kind.
	kinds(`^interface conversion: interface \{\} is (.+), not (\S+)$`, "it is %s, and must be %s", 1, 2),
	kinds(`^interface conversion: (.+) is nil, not (\S+)$`, "it is null, and must be %[2]s", 1, 2),
	kinds(`^reflect\.Value\.MapIndex: value of type (\S+) is not assignable to type string$`, "the names in a mapping are texts, and this is %s", 1),
	kinds(`^reflect: call of \S+ on (\S+) Value$`, "it cannot be done with %s", 1),
	kinds(`^invalid operation: int\(string\)()$`, "a text has no parts of a name%s"),
	kinds(`^invalid operation: \w+\((\*?\w+\.\w+|map\[.*|\[\].*|bool|<nil>)\)$`, "%s cannot be made a number", 1),
	kinds(`^invalid operation: (?:int|float)\((.*)\)$`, "%q is no number"),
	kinds(`^invalid operation: in \(mismatched types .+ and (.+)\)$`, "in needs a list or a mapping after it, not %s", 1),
	kinds(`^operator "in" not defined on (.+)$`, "in needs a list or a mapping after it, not %s; a text has parts by contains", 1),
	kinds(`^cannot use (.+) as field name of .+$`, "the names in a mapping are texts, not %s", 1),
	kinds(`^invalid operation: (\S+) \(mismatched type (.+)\)$`, "%s cannot be done with %s", 2),
	{regexp.MustCompile(`^invalid operation: (\S+) \(mismatched types (.+) and (.+)\)$`), mismatch},
	kinds(`^invalid operation: - (.+)$`, "- cannot be done with %s", 1),
	kinds(`^invalid operation: cannot call nil()$|is not callable$|cannot call non-function|^not a function$`, "what is called here is no function%s"),
	kinds(`^invalid operation: negative shift count (\S+) .*$`, "bits cannot be shifted by %s"),
	kinds(`^invalid operation: (.+) ([-+*/%<>=]+) (.+)$`, "%s %s %s cannot be done", 1, 3),
	kinds(`^invalid argument for repeat \(expected positive integer, got (.*)\)$`, "repeat needs a number of times that is not negative, not %s"),
	kinds(`^invalid argument for (\w+) \(type (.+?)\)$`, "%s cannot be done with %s", 2),
	kinds(`^cannot use (.+) to get an element from (.+)$`, "%[2]s has no part that is named by %[1]s", 1, 2),
	kinds(`^cannot use (.+?) as argument \(type (.+?)\) to call (\w+) *$`, "%[3]s needs %[2]s, not %[1]s", 1, 2),
	kinds(`^builtin (\w+) takes only \w+ \(got (.+?)\)$`, "%s needs a list, not %s", 2),
	kinds(`^predicate should return boolean \(got (.+)\)$`, "what decides must be true or false, not %s", 1),
	kinds(`^non-bool expression \(type (.+)\) used as condition$`, "what decides must be true or false, not %s", 1),
	kinds(`^(?:cannot fetch|cannot get) (\S+) from (\S+)$`, "there is no %s in %s", 2),
	kinds(`^type (.+) has no (?:field|method) (.+)$`, "there is no %[2]s in %[1]s", 1),
	kinds(`^type (.+)\[(.+)\] is undefined$`, "%[1]s has no part that is named by %[2]s", 1, 2),
	kinds(`^array elements can only be selected using an integer \(got (.+)\)$`, "an element of a list is taken by its number, as in list[0], not by %s", 1),
	kinds(`^index out of range: (\S+) \(array length is (\d+)\)$`, "there is no element %s in a list of %s"),
	kinds(`^non-integer slice index (.+)$`, "parts of lists and texts are taken by whole numbers, not by %s", 1),
	text(`^cannot slice |slice bounds out of range`, "only of lists and texts a part can be taken, [FROM:TO]"),
	about(`^cannot (?:transform|get (?:keys|values)|get \w+ element|take|reverse|uniq|concat|flatten)(?: \w+)*? ?(?:from )?(\S+?)(?: to pairs| from pairs| elements)?$`, "%s cannot be done with %s"),
	kinds(`^invalid pair.*()$`, "what becomes a mapping must be a list of lists of a name and a value%s"),
	text(`^sort(?:By)? order argument must be`, `the order must be "asc" or "desc"`),
	text(`^unknown order|^invalid order`, `the order must be "asc" or "desc"`),
	text(`^reduce of empty array`, "reduce of an empty list needs a third value, to begin with"),

	// What is too little or too much.
	about(`^invalid number of arguments(?: for \w+)?:? ?\(?expected (.+?), got \d+\)?$`, "the number of values in the parentheses of %s must be %s"),
	kinds(`^(?:not enough arguments to call (\w+)|expected at least .*)$`, "values are missing in the parentheses of %s"),
	text(`^memory budget exceeded$`, "the evaluation makes more than is allowed; make the expression do less, or the items smaller"),
	text(`integer divide by zero$`, "a division by zero"),
	kinds(`^invalid date (.*)$`, "%q is no date such as 2026-01-31"),
	kinds(`^time: \w+ (?:duration|unit).*?("[^"]*").*$`, "%s is no duration such as 1h30m"),
	kinds(`^(?:parsing time|time: ) ?(".*?").*$`, "%s is no date of that form"),
	text(`JSON input|^invalid character .*`, "the text is no JSON"),
	text(`^illegal base64`, "the text is no base64"),
}

// mismatch says which kinds an operator cannot take. What an item is cannot be known
// before it is read.
func mismatch(m []string, _ string) string {
	left, right := kind(m[2]), kind(m[3])
	switch unknown := "unknown"; {
	case m[2] == unknown:
		return fmt.Sprintf("%s cannot be done with %s", m[1], right)
	case m[3] == unknown:
		return fmt.Sprintf("%s cannot be done with %s", m[1], left)
	}
	return fmt.Sprintf("%s cannot be done with %s and %s", m[1], left, right)
}

// kind is what values of a type of Go are called, and other texts as they are.
func kind(name string) string {
	if k := called.Type(name); k != "" {
		return k
	}
	return strings.TrimSpace(name)
}
