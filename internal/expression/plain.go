package expression

import (
	"regexp"
	"strings"
)

// A plain error says what the language's own error does, in the words of people: it
// names types of Go.
type plain struct {
	text string
	err  error
}

func (p *plain) Error() string { return p.text }
func (p *plain) Unwrap() error { return p.err }

// inPlain puts an error of the language into such words. The place in the expression, at
// its end, stays.
func inPlain(err error) error {
	all := err.Error()
	text, place := all, ""
	if m := placed.FindStringSubmatchIndex(all); m != nil {
		text, place = all[:m[0]], " "+strings.TrimSpace(all[m[0]:])
	}
	for _, w := range words {
		text = w.is.ReplaceAllString(text, w.as)
	}
	if text = strings.TrimSpace(text); text+place == all {
		return err
	}
	return &plain{text + place, err}
}

var placed = regexp.MustCompile(` +\(\d+:\d+\)$`)

var words = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`interface conversion: interface \{\} is (.+), not (\S+)`), "it is $1, and must be $2"},
	{regexp.MustCompile(`interface conversion: (.+) is nil, not (\S+)`), "it is null, and must be $2"},
	{regexp.MustCompile(`reflect\.Value\.MapIndex: value of type (\S+) is not assignable to type string`), "the names in a mapping are texts, and this is $1"},
	{regexp.MustCompile(`reflect: call of \S+ on (\S+) Value`), "it cannot be done with $1"},
	{regexp.MustCompile(`^invalid operation: int\(string\)$`), "a text has no parts of a name"},
	{regexp.MustCompile(`^invalid operation: in \(mismatched types .+ and (.+)\)$`), "in needs a list, a mapping or a text after it, not $1"},
	{regexp.MustCompile(`^invalid operation: (.+) \(mismatched types (.+) and (.+)\)$`), "$1 cannot be done with $2 and $3"},
	{regexp.MustCompile(`^invalid operation: (?:int|float)\((.*)\)$`), "$1 is no number"},
	{regexp.MustCompile(`^invalid operation: (.+)$`), "$1 cannot be done"},
	{regexp.MustCompile(`invalid argument for (\w+) \(type (.+?)\)`), "$1 cannot be done with $2"},
	{regexp.MustCompile(`cannot use (.+?) as argument \(type (.+?)\) to call (\w+) *`), "$3 needs $2, not $1 "},
	{regexp.MustCompile(`builtin (\w+) takes only (\w+) \(got (.+?)\)`), "$1 needs $2, not $3"},
	{regexp.MustCompile(`cannot fetch (\S+) from (\S+)`), "there is no $1 in $2"},
	{regexp.MustCompile(`integer divide by zero`), "a division by zero"},
	// The types.
	{regexp.MustCompile(`map\[\w+\](interface \{\}|any)`), "a mapping"},
	{regexp.MustCompile(`\[\](interface \{\}|any)`), "a list"},
	{regexp.MustCompile(`\*?\bimage\.[A-Z]\w*`), "an image"},
	{regexp.MustCompile(`\*?\barray\.Array\b`), "an array"},
	{regexp.MustCompile(`\btime\.Time\b`), "a time"},
	{regexp.MustCompile(`<nil>|\bnil\b`), "null"},
	{regexp.MustCompile(`(needs|not|is|be|with|of|in|^|and|: |[-+*/%<>=]) ?\bstring\b`), "$1 a text"},
	{regexp.MustCompile(`(needs|not|is|be|with|of|in|^|and|: |[-+*/%<>=]) ?\b(u?int(8|16|32|64)?)\b`), "$1 a whole number"},
	{regexp.MustCompile(`(needs|not|is|be|with|of|in|^|and|: |[-+*/%<>=]) ?\bfloat(32|64)\b`), "$1 a number"},
	{regexp.MustCompile(`(needs|not|is|be|with|of|in|^|and|: |[-+*/%<>=]) ?\bbool\b`), "$1 a truth value"},
	{regexp.MustCompile(`(needs|not) array\b`), "$1 a list"},
	{regexp.MustCompile(`\bstring (?P<op>[-+*/%<>=]+) `), "a text $op "},
	{regexp.MustCompile(`\bu?int(?:8|16|32|64)? (?P<op>[-+*/%<>=]+) `), "a whole number $op "},
	{regexp.MustCompile(`  +`), " "},
}
