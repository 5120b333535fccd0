// Package outside reaches a clock in each way that there is. The comment before a
// function says whether it does.
package outside

func clock() int { return 1 } // by corrections

type I interface{ Read() int }

type T struct{}

func (T) Read() int { return clock() }

func (T) Other() int { return 1 }

var variable = clock()
var derived = variable + 1
var function = func() int { return clock() }
var table = map[string]func() int{"a": clock}
var iface I = T{}
var hook func() int
var state int
var constant = []int{1, 2}

func init() { hook = clock }

// the clock
func Call() int { return clock() }

// the clock
func Deferred() { defer clock() }

// the clock
func Started() { go clock() }

// the clock
func Variable() int { return derived }

// the clock
func Function() int { return function() }

// the clock
func Table() int { return table["a"]() }

// the clock
func Interface() int { return iface.Read() }

// the clock
func Hook() int { return hook() }

// the clock
func Closure() func() int { return func() int { return clock() } }

// the clock
func MethodValue() func() int { return T{}.Read }

// the clock
func MethodExpression() func(T) int { return T.Read }

// the clock
func Converted() I { return T{} }

// the clock
func ConvertedInArgument() int { return take(T{}) }

// the clock
func Generic() int { return generic(T{}) }

func generic[E I](e E) int { return e.Read() }

// the state of package github.com/larder-data/larder/internal/codeid/std/gen/testdata/outside
func State() int { return state }

func SetState() { state++ }

// nothing
func OtherMethod() int { return T{}.Other() }

// nothing
func Constant() int { return constant[0] }

// nothing
func take(i I) int { return i.Read() }
