package expr

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// wholeOf returns an integer of 64 bits. A larger one is an error.
func wholeOf(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case *big.Int:
		panic(overflow("%s", shortNumber(v)))
	}
	panic(faultf("an integer is needed, not %s", kindName(v)))
}

func shortNumber(v *big.Int) string {
	const most = 40
	if v.BitLen() > 64*most {
		return "a number with too many digits to display"
	}
	s := v.String()
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// floatOf returns the float nearest to a number.
func floatOf(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f
	}
	f, _ := v.(float64)
	return f
}

// fits reports whether an integral float fits into 64 bits.
func fits(f float64) bool { return f >= math.MinInt && f < -math.MinInt }

// wholes returns two integers of 64 bits; ok is false if one of them is a float.
func wholes(a, b any) (x, y int, ok bool) {
	if kindOf(a) != wholeKind || kindOf(b) != wholeKind {
		return 0, 0, false
	}
	return wholeOf(a), wholeOf(b), true
}

func (m *meter) ofNumbers(name string, args []any) (v any, ok bool) {
	switch name {
	case "sum":
		return m.sum(args[0]), true
	case "abs":
		return absolute(args[0]), true
	case "ceil", "floor", "round":
		return rounded(name, args[0]), true
	case "max", "min":
		return m.extreme(name, args), true
	case "mean", "median":
		return m.middle(name, args), true
	case "bitand", "bitor", "bitxor", "bitnand":
		return bitwise(name, wholeOf(args[0]), wholeOf(args[1])), true
	case "bitnot":
		return ^wholeOf(args[0]), true
	case "bitshl", "bitshr", "bitushr":
		return shifted(name, wholeOf(args[0]), wholeOf(args[1])), true
	}
	return nil, false
}

func (m *meter) sum(list any) any {
	var total any = 0
	for i, e := range m.elements(list) {
		if e = plain(e); kindOf(e)&numberKind == 0 {
			fail("sum needs numbers, but element %d is %s", i, kindName(e))
		}
		m.charge(each)
		total = m.add(total, e)
	}
	return total
}

func absolute(v any) any {
	if f, ok := v.(float64); ok {
		return math.Abs(f)
	}
	i := wholeOf(v)
	if i == math.MinInt {
		panic(overflow("abs(%d)", i))
	}
	return max(i, -i)
}

// rounded returns an integer unchanged, and a float as the nearest integral one.
func rounded(name string, v any) any {
	f, ok := v.(float64)
	switch {
	case !ok:
		return wholeOf(v)
	case name == "ceil":
		return math.Ceil(f)
	case name == "floor":
		return math.Floor(f)
	}
	return math.Round(f)
}

// flat returns the numbers in values and in lists of them, in order.
func (m *meter) flat(name string, values []any) (all []any) {
	for _, v := range values {
		switch v = plain(v); {
		case kindOf(v) == listKind:
			all = append(all, m.flat(name, m.elements(v))...)
		case kindOf(v)&numberKind == 0:
			fail("%s needs numbers or lists of numbers, but one of them is %s", name, kindName(v))
		default:
			all = append(all, v)
		}
	}
	return all
}

// extreme returns the largest or smallest number; without numbers null, and with any
// NaN, NaN.
func (m *meter) extreme(name string, args []any) any {
	var best any
	for _, v := range m.flat(name, args) {
		if f, ok := v.(float64); ok && math.IsNaN(f) {
			return f
		}
		if c := 0; best != nil {
			if c = compareNumbers(v, best); name == "min" {
				c = -c
			}
			if c <= 0 {
				continue
			}
		}
		best = v
	}
	return best
}

// middle returns the mean or the median of numbers; without numbers null.
func (m *meter) middle(name string, args []any) any {
	all := []float64{}
	total := 0.0
	for _, v := range m.flat(name, args) {
		all = append(all, floatOf(v))
		total += floatOf(v)
	}
	n := len(all)
	if n == 0 {
		return nil
	}
	if name == "mean" {
		return total / float64(n)
	}
	slices.Sort(all)
	if n%2 == 1 {
		return all[n/2]
	}
	return (all[n/2-1] + all[n/2]) / 2
}

func bitwise(name string, x, y int) int {
	switch name {
	case "bitand":
		return x & y
	case "bitor":
		return x | y
	case "bitxor":
		return x ^ y
	}
	return x &^ y
}

// shifted shifts the bits of a number. Left shifts must not lose bits; right shifts
// insert copies of the sign (bitshr), or zeros (bitushr).
func shifted(name string, x, by int) int {
	if by < 0 || by > 63 {
		fail("bits cannot be shifted by %d; %s needs 0 to 63", by, name)
	}
	switch name {
	case "bitshr":
		return x >> by
	case "bitushr":
		return int(uint64(x) >> by)
	}
	if x<<by>>by != x {
		panic(overflow("bitshl(%d, %d)", x, by))
	}
	return x << by
}

// CompareNumbers orders numbers like <: int, *big.Int and float64. None may be NaN.
func CompareNumbers(a, b any) int { return compareNumbers(a, b) }

// compareNumbers orders numbers exactly, also floats with integers; NaN comes first.
func compareNumbers(a, b any) int {
	x, xWhole := a.(int)
	y, yWhole := b.(int)
	f, xFloat := a.(float64)
	g, yFloat := b.(float64)
	switch {
	case xWhole && yWhole:
		return cmp.Compare(x, y)
	case xFloat && yFloat:
		return cmp.Compare(f, g)
	case xFloat && math.IsNaN(f):
		return -1
	case yFloat && math.IsNaN(g):
		return 1
	case xWhole && yFloat && isExact(x):
		return cmp.Compare(float64(x), g)
	case xFloat && yWhole && isExact(y):
		return cmp.Compare(f, float64(y))
	}
	return exact(a).Cmp(exact(b))
}

// isExact reports whether an integer is small enough to be exact as a float.
func isExact(i int) bool { return i == int(int32(i)) }

func exact(v any) *big.Float {
	switch v := v.(type) {
	case int:
		return new(big.Float).SetInt64(int64(v))
	case *big.Int:
		return new(big.Float).SetInt(v)
	}
	return big.NewFloat(v.(float64))
}
