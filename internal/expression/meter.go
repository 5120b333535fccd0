package expression

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/called"
)

// maxHandled is how many bytes one evaluation of an expression may handle: what its
// operators and functions read and make, counted again each time. That bounds its
// memory and its time, by the same measure on every machine.
const maxHandled = 64 << 20

// each is what a value counts beside the bytes of a text.
const each = 16

// A meter counts what one evaluation handles, and has the functions that do it. They
// panic with an error, as functions of programs do: the evaluation then says where.
type meter struct{ left int64 }

func newMeter() *meter { return &meter{left: maxHandled} }

// function is how functions of programs look that are called fast.
type function = func(args ...any) any

// signatures are the functions by their types.
func signatures() map[string]any {
	env := map[string]any{}
	(&meter{}).offer(env)
	return env
}

// offer puts the functions among the variables of a program.
func (m *meter) offer(env map[string]any) {
	env[addName], env[subName], env[mulName], env[negName] = function(m.add), function(m.subtract), function(m.multiply), function(m.negate)
	env[callName], env[readName], env[memberName], env[mayName], env[patternName] = function(m.call), function(m.read), function(m.member), function(m.may), function(m.pattern)
}

// charge counts so many bytes.
func (m *meter) charge(bytes int64) {
	if bytes > m.left {
		panic(fmt.Errorf("the evaluation handles more than %d MiB, which is the limit; make the expression do less, or the items smaller", maxHandled>>20))
	}
	m.left -= bytes
}

// all counts all of a value, what is in it several times as often.
func (m *meter) all(v any) {
	m.charge(each)
	switch v := v.(type) {
	case string:
		m.charge(int64(len(v)))
	case []any:
		for _, e := range v {
			m.all(e)
		}
	case map[string]any:
		for k, e := range v {
			m.charge(int64(len(k)))
			m.all(e)
		}
	case []int: // a range
		m.charge(each * int64(len(v)))
	case []string: // of a split text
		for _, e := range v {
			m.all(e)
		}
	}
}

// result counts what an evaluation came out as, which somebody goes through: it may be
// made of parts that are the same, and larger than all that was made.
func (m *meter) result(v any) (err error) {
	defer func() {
		if tooMuch, ok := recover().(error); ok {
			err = tooMuch
		}
	}()
	m.all(v)
	return nil
}

// length is how many elements a list has.
func length(v any) int64 {
	if r := reflect.ValueOf(v); v != nil && r.Kind() == reflect.Slice {
		return int64(r.Len())
	}
	return 0
}

// read passes on a value that something is done with, or that was made for an element
// of a list.
func (m *meter) read(args ...any) any {
	m.all(args[0])
	return args[0]
}

// pattern passes on a regular expression that is not known before: reading it takes
// as long as much else.
func (m *meter) pattern(args ...any) any {
	const costly = 4 << 10
	s, _ := args[0].(string)
	m.times(costly, 1+int64(len(s))/each)
	return args[0]
}

// call calls a function of the language.
func (m *meter) call(args ...any) any {
	name, args := args[0].(string), slices.Clone(args[1:])
	m.charge(each)
	if !slices.Contains([]string{"len", "type", "first", "last", "get"}, name) {
		for _, a := range args {
			m.all(a)
		}
	}
	m.extra(name, args)
	if v, ok := ordered(name, args); ok {
		return v
	}
	switch name {
	case "sum":
		return m.sum(args[0])
	case "abs":
		if i, ok := integer(args[0]); ok && i == math.MinInt64 {
			panic(overflow("abs(%d)", i))
		}
	case "int":
		if f, ok := args[0].(float64); ok && !(f >= math.MinInt64 && f < math.MaxInt64) {
			panic(overflow("int(%v)", f))
		}
	}
	return apply(builtin.Builtins[builtin.Index[name]], args)
}

// apply calls a function of the language that was found.
func apply(f *builtin.Function, args []any) any {
	var v any
	var err error
	switch {
	case f.Fast != nil:
		return f.Fast(args[0])
	case f.Safe != nil:
		v, _, err = f.Safe(args...)
	default:
		v, err = f.Func(args...)
	}
	if err != nil {
		panic(err)
	}
	return v
}

// extra counts what functions make that is more than what they read.
func (m *meter) extra(name string, args []any) {
	text := func(i int) string {
		if i >= len(args) {
			return ""
		}
		s, _ := args[i].(string)
		return s
	}
	switch name {
	case "repeat":
		if n, ok := integer(args[1]); ok && n > 0 {
			m.times(int64(len(text(0))), n)
		}
	case "join":
		m.times(int64(len(text(1))), length(args[0]))
	case "replace":
		m.times(int64(len(text(2))), int64(strings.Count(text(0), text(1))))
	case "uniq": // which compares each with each
		m.times(length(args[0]), length(args[0]))
	}
}

// times counts a product.
func (m *meter) times(a, b int64) {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= maxHandled {
		m.charge(int64(low))
		return
	}
	m.charge(math.MaxInt64)
}

// sum adds up a list.
func (m *meter) sum(list any) any {
	r := reflect.ValueOf(list)
	if list == nil || r.Kind() != reflect.Slice {
		panic(fmt.Errorf("sum needs a list, not %s", Shown(list)))
	}
	var total any = 0
	for i := range r.Len() {
		total = m.add(total, r.Index(i).Interface())
	}
	return total
}

func (m *meter) add(args ...any) any {
	m.charge(each)
	a, b := args[0], args[1]
	if s, ok := a.(string); ok {
		t, _ := b.(string)
		m.charge(int64(len(s) + len(t)))
	}
	v := runtime.Add(a, b)
	if x, y, ok := integers(a, b); ok && (x+y < x) != (y < 0) {
		panic(overflow("%d + %d", x, y))
	}
	return v
}

func (m *meter) subtract(args ...any) any {
	m.charge(each)
	v := runtime.Subtract(args[0], args[1])
	if x, y, ok := integers(args[0], args[1]); ok && (x-y > x) != (y < 0) {
		panic(overflow("%d - %d", x, y))
	}
	return v
}

func (m *meter) multiply(args ...any) any {
	m.charge(each)
	v := runtime.Multiply(args[0], args[1])
	if x, y, ok := integers(args[0], args[1]); ok && x != 0 && (x*y/x != y || x == -1 && y == math.MinInt64) {
		panic(overflow("%d * %d", x, y))
	}
	return v
}

func (m *meter) negate(args ...any) any {
	if i, ok := integer(args[0]); ok && i == math.MinInt64 {
		panic(overflow("-(%d)", i))
	}
	return runtime.Negate(args[0])
}

func overflow(format string, args ...any) error {
	return fmt.Errorf(format+" is beyond whole numbers of 64 bits; write float(...) where it need not be exact", args...)
}

// member reads what a document must have: base, name and the path of the base.
func (m *meter) member(args ...any) any {
	name, path := args[1].(string), args[2].(string)
	doc, ok := args[0].(map[string]any)
	if !ok {
		return runtime.Fetch(args[0], name)
	}
	v, ok := doc[name]
	if !ok {
		names := slices.Sorted(maps.Keys(doc))
		panic(fmt.Errorf("%s has no %q%s (where it may be missing, write has(...), ?? or ?.)", path, name, component.Suggest(name, names[:min(len(names), 50)])))
	}
	return v
}

// may reads what a document may have.
func (m *meter) may(args ...any) any {
	name := args[1].(string)
	switch doc := args[0].(type) {
	case nil:
		return nil
	case map[string]any:
		return doc[name]
	}
	return runtime.Fetch(args[0], name)
}

// integer returns a whole number.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	}
	if r := reflect.ValueOf(v); v != nil && r.CanInt() {
		return r.Int(), true
	}
	return 0, false
}

// integers returns two whole numbers.
func integers(a, b any) (x, y int64, ok bool) {
	x, ok = integer(a)
	y, other := integer(b)
	return x, y, ok && other
}

// Shown is a value in a message, if it is short and a document can hold it.
func Shown(v any) string {
	const most = 1 << 10
	small := meter{left: most}
	fits := func() (ok bool) {
		defer func() { ok = recover() == nil }()
		small.all(v)
		return
	}
	if v == nil {
		return called.Value(v)
	}
	if !fits() {
		return called.Value(v) + " that is too long to be shown"
	}
	if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return "a number that is infinite or none, as of a division by zero"
	}
	if d, err := Document(v); err == nil {
		if text, err := json.Marshal(d); err == nil {
			return called.Short(string(text)) + ", " + called.Value(v)
		}
	}
	return called.Value(v)
}
