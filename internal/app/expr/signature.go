package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
)

// A signature describes the parameters and results of a function of the language.
type signature struct {
	least, most int     // number of arguments; most is 0 for any number
	takes       []kinds // of each argument; the last applies to all that follow
	gives       kinds
	decides     bool // the expression for each element must be boolean
}

// signatures are the functions of the language. For functions with an expression per
// element, the second argument is that expression.
var signatures = map[string]signature{
	"all":           {2, 2, []kinds{listKind, anyKind}, truthKind, true},
	"none":          {2, 2, []kinds{listKind, anyKind}, truthKind, true},
	"any":           {2, 2, []kinds{listKind, anyKind}, truthKind, true},
	"one":           {2, 2, []kinds{listKind, anyKind}, truthKind, true},
	"filter":        {2, 2, []kinds{listKind, anyKind}, listKind, true},
	"map":           {2, 2, []kinds{listKind, anyKind}, listKind, false},
	"find":          {2, 2, []kinds{listKind, anyKind}, anyKind, true},
	"findIndex":     {2, 2, []kinds{listKind, anyKind}, wholeKind | nullKind, true},
	"findLast":      {2, 2, []kinds{listKind, anyKind}, anyKind, true},
	"findLastIndex": {2, 2, []kinds{listKind, anyKind}, wholeKind | nullKind, true},
	"count":         {1, 2, []kinds{listKind, anyKind}, wholeKind, true},
	"sum":           {1, 2, []kinds{listKind, anyKind}, numberKind, false},
	"groupBy":       {2, 2, []kinds{listKind, anyKind}, mappingKind, false},
	"sortBy":        {2, 3, []kinds{listKind, anyKind, textKind}, listKind, false},
	"reduce":        {2, 3, []kinds{listKind, anyKind}, anyKind, false},

	"len":    {1, 1, []kinds{textKind | listKind | mappingKind | bytesKind}, wholeKind, false},
	"type":   {1, 1, []kinds{anyKind}, textKind, false},
	"abs":    {1, 1, []kinds{numberKind}, numberKind, false},
	"ceil":   {1, 1, []kinds{numberKind}, numberKind, false},
	"floor":  {1, 1, []kinds{numberKind}, numberKind, false},
	"round":  {1, 1, []kinds{numberKind}, numberKind, false},
	"int":    {1, 1, []kinds{textKind | numberKind | durationKind}, wholeKind, false},
	"float":  {1, 1, []kinds{textKind | numberKind}, floatKind, false},
	"string": {1, 1, []kinds{anyKind &^ (otherKind | bytesKind)}, textKind, false},

	"trim":        {1, 2, []kinds{textKind}, textKind, false},
	"trimPrefix":  {1, 2, []kinds{textKind}, textKind, false},
	"trimSuffix":  {1, 2, []kinds{textKind}, textKind, false},
	"upper":       {1, 1, []kinds{textKind}, textKind, false},
	"lower":       {1, 1, []kinds{textKind}, textKind, false},
	"split":       {2, 3, []kinds{textKind, textKind, wholeKind}, listKind, false},
	"splitAfter":  {2, 3, []kinds{textKind, textKind, wholeKind}, listKind, false},
	"replace":     {3, 4, []kinds{textKind, textKind, textKind, wholeKind}, textKind, false},
	"repeat":      {2, 2, []kinds{textKind, wholeKind}, textKind, false},
	"join":        {1, 2, []kinds{listKind, textKind}, textKind, false},
	"indexOf":     {2, 2, []kinds{textKind}, wholeKind, false},
	"lastIndexOf": {2, 2, []kinds{textKind}, wholeKind, false},
	"hasPrefix":   {2, 2, []kinds{textKind}, truthKind, false},
	"hasSuffix":   {2, 2, []kinds{textKind}, truthKind, false},

	"max":    {1, 0, []kinds{numberKind | listKind}, numberKind | nullKind, false},
	"min":    {1, 0, []kinds{numberKind | listKind}, numberKind | nullKind, false},
	"mean":   {1, 0, []kinds{numberKind | listKind}, floatKind | nullKind, false},
	"median": {1, 0, []kinds{numberKind | listKind}, floatKind | nullKind, false},

	"toJSON":     {1, 1, []kinds{anyKind &^ (otherKind | bytesKind)}, textKind, false},
	"fromJSON":   {1, 1, []kinds{textKind}, anyKind, false},
	"toBase64":   {1, 1, []kinds{textKind}, textKind, false},
	"fromBase64": {1, 1, []kinds{textKind}, textKind, false},

	"duration": {1, 1, []kinds{textKind}, durationKind, false},
	"date":     {1, 3, []kinds{textKind | zoneKind, textKind}, timeKind, false},
	"timezone": {1, 1, []kinds{textKind}, zoneKind, false},

	"first":     {1, 1, []kinds{listKind}, anyKind, false},
	"last":      {1, 1, []kinds{listKind}, anyKind, false},
	"get":       {2, 2, []kinds{textKind | listKind | mappingKind | nullKind, textKind | wholeKind}, anyKind, false},
	"take":      {2, 2, []kinds{listKind, wholeKind}, listKind, false},
	"keys":      {1, 1, []kinds{mappingKind}, listKind, false},
	"values":    {1, 1, []kinds{mappingKind}, listKind, false},
	"toPairs":   {1, 1, []kinds{mappingKind}, listKind, false},
	"fromPairs": {1, 1, []kinds{listKind}, mappingKind, false},
	"reverse":   {1, 1, []kinds{listKind}, listKind, false},
	"uniq":      {1, 1, []kinds{listKind}, listKind, false},
	"concat":    {1, 0, []kinds{listKind}, listKind, false},
	"flatten":   {1, 1, []kinds{listKind}, listKind, false},
	"sort":      {1, 2, []kinds{listKind, textKind}, listKind, false},

	"bitand":  {2, 2, []kinds{wholeKind}, wholeKind, false},
	"bitor":   {2, 2, []kinds{wholeKind}, wholeKind, false},
	"bitxor":  {2, 2, []kinds{wholeKind}, wholeKind, false},
	"bitnand": {2, 2, []kinds{wholeKind}, wholeKind, false},
	"bitshl":  {2, 2, []kinds{wholeKind}, wholeKind, false},
	"bitshr":  {2, 2, []kinds{wholeKind}, wholeKind, false},
	"bitushr": {2, 2, []kinds{wholeKind}, wholeKind, false},
	"bitnot":  {1, 1, []kinds{wholeKind}, wholeKind, false},
}

// counts describes a wrong number of arguments, or returns "".
func (s signature) counts(name string, n int) string {
	if n >= s.least && (n <= s.most || s.most == 0) {
		return ""
	}
	want := strconv.Itoa(s.least)
	switch {
	case s.most == 0:
		want += " or more"
	case s.most == s.least+1:
		want += " or " + strconv.Itoa(s.most)
	case s.most > s.least:
		want += " to " + strconv.Itoa(s.most)
	}
	return fmt.Sprintf("%s has %d arguments, want %s", name, n, want)
}

// at returns the accepted kinds of the i-th argument.
func (s signature) at(i int) kinds { return s.takes[min(i, len(s.takes)-1)] }

// accepts describes why the i-th argument of a function with kinds k is wrong, or
// returns "". The argument is called what in messages.
func (s signature) accepts(name string, i int, k kinds, what string) string {
	want := s.at(i)
	if k&want != 0 {
		return ""
	}
	if what == "" {
		what = k.String()
	}
	place, fix := "", ""
	if i > 0 {
		place = " as " + ordinal(i+1) + " argument"
	}
	if want == wholeKind && k == floatKind {
		fix = "; convert it with int(...)"
	} else if want == textKind && k&(numberKind|truthKind) == k {
		fix = "; convert it with string(...)"
	}
	if want&(want-1) != 0 && want&(otherKind|bytesKind) == 0 && want|otherKind|bytesKind == anyKind {
		return fmt.Sprintf("%s is not defined for %s", name, what)
	}
	return fmt.Sprintf("%s needs %s%s, not %s%s", name, want, place, what, fix)
}

func ordinal(n int) string {
	if n <= 4 {
		return []string{"first", "second", "third", "fourth"}[n-1]
	}
	return strconv.Itoa(n) + "th"
}

func noFunction(name string) string {
	names := []string{itemFunction, hasFunction}
	for n := range signatures {
		names = append(names, n)
	}
	slices.Sort(names)
	nearest := component.Suggest(name, names)
	if !strings.HasPrefix(nearest, "; did you mean") {
		nearest = "" // rather than a list of all
	}
	return fmt.Sprintf(`unknown function %q%s (items are written without parentheses, or as item("..."))`, name, nearest)
}

// A row gives the result kinds of an operator for operand kinds.
type row struct{ left, right, gives kinds }

var (
	numbers     = row{numberKind, numberKind, numberKind}
	ofTwoTexts  = []row{{textKind, textKind, truthKind}}
	comparisons = []row{{numberKind, numberKind, truthKind}, {textKind, textKind, truthKind}, {timeKind, timeKind, truthKind}, {durationKind, durationKind, truthKind}}
)

// operators lists the operand and result kinds of binary operators.
var operators = map[string][]row{
	"+": {
		{wholeKind, wholeKind, wholeKind}, numbers, {textKind, textKind, textKind},
		{timeKind, durationKind, timeKind}, {durationKind, timeKind, timeKind}, {durationKind, durationKind, durationKind},
	},
	"-":          {{wholeKind, wholeKind, wholeKind}, numbers, {timeKind, timeKind, durationKind}, {timeKind, durationKind, timeKind}, {durationKind, durationKind, durationKind}},
	"*":          {{wholeKind, wholeKind, wholeKind}, numbers, {numberKind, durationKind, durationKind}, {durationKind, numberKind, durationKind}},
	"/":          {{numberKind, numberKind, floatKind}},
	"%":          {{wholeKind, wholeKind, wholeKind}},
	"**":         {numbers},
	"..":         {{wholeKind, wholeKind, listKind}},
	"<":          comparisons,
	"<=":         comparisons,
	">":          comparisons,
	">=":         comparisons,
	"and":        {{truthKind, truthKind, truthKind}},
	"or":         {{truthKind, truthKind, truthKind}},
	"in":         {{anyKind, listKind | mappingKind, truthKind}},
	"contains":   ofTwoTexts,
	"startsWith": ofTwoTexts,
	"endsWith":   ofTwoTexts,
	"matches":    {{textKind | bytesKind, textKind, truthKind}},
}

// between returns the result kinds of an operator for operand kinds; ok is false if no
// operands of these kinds are valid.
func between(operator string, left, right kinds) (gives kinds, ok bool) {
	for _, r := range operators[operator] {
		if left&r.left != 0 && right&r.right != 0 {
			gives |= r.gives
			if left&^r.left == 0 && right&^r.right == 0 {
				break // the operands have only kinds of this row
			}
		}
	}
	return gives, gives != 0
}

// refused describes operands that an operator does not accept. It leaves out operands
// of unknown kind.
func refused(operator string, left, right kinds, leftName, rightName string) string {
	switch operator {
	case "in":
		hint := ""
		if right == textKind {
			hint = "; for strings use contains"
		}
		return fmt.Sprintf("in needs a list or a mapping after it, not %s%s", rightName, hint)
	case "and", "or":
		name := leftName
		if left&truthKind != 0 {
			name = rightName
		}
		return mustBeTruth(operator, name)
	}
	switch {
	case !left.known():
		return fmt.Sprintf("%s is not defined for %s", operator, rightName)
	case !right.known():
		return fmt.Sprintf("%s is not defined for %s", operator, leftName)
	}
	hint := ""
	if operator == "+" && left|right != textKind && (left|right)&^(textKind|numberKind|truthKind) == 0 && (left == textKind || right == textKind) {
		hint = "; convert values with string(...)"
	}
	return fmt.Sprintf("%s is not defined for %s and %s%s", operator, leftName, rightName, hint)
}

// mustBeTruth describes a condition that is not boolean.
func mustBeTruth(what, name string) string {
	if what == "" {
		return fmt.Sprintf("the condition must be true or false, not %s", name)
	}
	return fmt.Sprintf("%s needs true or false, not %s", what, name)
}
