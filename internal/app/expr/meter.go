package expr

import (
	"math"
	"math/bits"

	"github.com/larder-data/larder/internal/text/display"
)

// maxHandled bounds the bytes that one evaluation of an expression may handle: what its
// operators and functions read and create, counted each time. That bounds its memory
// and its time, by the same measure on every machine.
const maxHandled = 64 << 20

// each is the charge for a value besides the bytes of a string.
const each = 16

// costly is the charge for slow operations: compiling a regular expression, or loading
// a time zone.
const costly = 4 << 10

// A meter executes the operations of one evaluation and counts their bytes. It panics
// with a fault, like functions of the library, which adds the position.
type meter struct{ left int64 }

func newMeter() *meter { return &meter{left: maxHandled} }

func (m *meter) charge(bytes int64) {
	if bytes > m.left {
		panic(faultf("the evaluation exceeds %d MiB; simplify the expression, or use smaller items", maxHandled>>20))
	}
	m.left -= bytes
}

// all counts all of a value; shared parts count each time.
func (m *meter) all(v any) {
	m.charge(each)
	switch v := v.(type) {
	case string:
		m.charge(int64(len(v)))
	case []byte:
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
	case map[any]any: // from groupBy, fromPairs
		for k, e := range v {
			m.all(k)
			m.all(e)
		}
	case []int: // a range
		m.charge(each * int64(len(v)))
	}
}

// result counts the result of an evaluation, which the caller will traverse. Shared
// parts can make it larger than everything counted before.
func (m *meter) result(v any) (err error) {
	defer func() {
		if tooMuch, ok := recover().(error); ok {
			err = tooMuch
		}
	}()
	m.all(v)
	return nil
}

func (m *meter) times(a, b int64) {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= maxHandled {
		m.charge(int64(low))
		return
	}
	m.charge(math.MaxInt64)
}

// Shown returns a value for a message, if it is short and a document can contain it.
func Shown(v any) string {
	const most = 1 << 10
	small := meter{left: most}
	fits := func() (ok bool) {
		defer func() { ok = recover() == nil }()
		small.all(v)
		return
	}
	if v == nil {
		return "null"
	}
	if !fits() {
		return kindName(v) + " too long to display"
	}
	if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return "an infinite number or NaN, as from division by zero"
	}
	if d, err := Document(v); err == nil {
		return display.Short(string(appendJSON(nil, d, 0))) + ", " + kindName(v)
	}
	return kindName(v)
}
