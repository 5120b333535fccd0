package expr

import (
	"math"
	"math/bits"

	"github.com/larder-data/larder/internal/text/display"
)

// maxHandled is how many bytes one evaluation of an expression may handle: what its
// operators and functions read and make, counted again each time. That bounds its
// memory and its time, by the same measure on every machine.
const maxHandled = 64 << 20

// each is what a value counts beside the bytes of a text.
const each = 16

// costly is what counts that takes as long as much else, whatever it handles: to read a
// regular expression, or a time zone.
const costly = 4 << 10

// A meter counts what one evaluation handles, and does it. What it does panics with a
// fault, as functions of programs do: the evaluation then says where.
type meter struct{ left int64 }

func newMeter() *meter { return &meter{left: maxHandled} }

// charge counts so many bytes.
func (m *meter) charge(bytes int64) {
	if bytes > m.left {
		panic(faultf("the evaluation handles more than %d MiB, which is the limit; make the expression do less, or the items smaller", maxHandled>>20))
	}
	m.left -= bytes
}

// all counts all of a value, what is in it several times as often.
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
	case map[any]any: // of groupBy, fromPairs
		for k, e := range v {
			m.all(k)
			m.all(e)
		}
	case []int: // a range
		m.charge(each * int64(len(v)))
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

// times counts a product.
func (m *meter) times(a, b int64) {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= maxHandled {
		m.charge(int64(low))
		return
	}
	m.charge(math.MaxInt64)
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
		return "null"
	}
	if !fits() {
		return kindName(v) + " that is too long to be shown"
	}
	if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return "a number that is infinite or none, as of a division by zero"
	}
	if d, err := Document(v); err == nil {
		return display.Short(string(appendJSON(nil, d, 0))) + ", " + kindName(v)
	}
	return kindName(v)
}
