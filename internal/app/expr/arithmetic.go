package expr

import (
	"math"
	"time"
)

// ints is wholes for values of type int.
func ints(a, b any) (x, y int, ok bool) {
	x, ok = a.(int)
	if ok {
		y, ok = b.(int)
	}
	return x, y, ok
}

// mustBetween refuses values that an operator does not accept.
func mustBetween(operator string, a, b any) (left, right kinds) {
	left, right = kindOf(a), kindOf(b)
	if _, ok := between(operator, left, right); !ok {
		fail("%s", refused(operator, left, right, kindName(a), kindName(b)))
	}
	return left, right
}

func (m *meter) add(a, b any) any {
	if x, y, ok := ints(a, b); ok {
		return addWholes(x, y)
	}
	left, right := mustBetween("+", a, b)
	switch {
	case left == textKind:
		s, t := a.(string), b.(string)
		m.charge(int64(len(s) + len(t)))
		return s + t
	case left == timeKind:
		return a.(time.Time).Add(b.(time.Duration))
	case right == timeKind:
		return b.(time.Time).Add(a.(time.Duration))
	case left == durationKind:
		x, y := a.(time.Duration), b.(time.Duration)
		if (x+y < x) != (y < 0) {
			fail(longDuration)
		}
		return x + y
	}
	if x, y, ok := wholes(a, b); ok {
		return addWholes(x, y)
	}
	return floatOf(a) + floatOf(b)
}

const longDuration = "the duration exceeds the limit of 292 years"

func addWholes(x, y int) int {
	if (x+y < x) != (y < 0) {
		panic(overflow("%d + %d", x, y))
	}
	return x + y
}

func subtract(a, b any) any {
	left, right := mustBetween("-", a, b)
	switch {
	case left == timeKind && right == timeKind:
		s, t := a.(time.Time), b.(time.Time)
		d := s.Sub(t)
		if !t.Add(d).Equal(s) {
			fail(longDuration)
		}
		return d
	case left == timeKind:
		d := b.(time.Duration)
		return a.(time.Time).Add(-max(d, -math.MaxInt64))
	case left == durationKind:
		x, y := a.(time.Duration), b.(time.Duration)
		if (x-y > x) != (y < 0) {
			fail(longDuration)
		}
		return x - y
	}
	if x, y, ok := wholes(a, b); ok {
		if (x-y > x) != (y < 0) {
			panic(overflow("%d - %d", x, y))
		}
		return x - y
	}
	return floatOf(a) - floatOf(b)
}

func multiply(a, b any) any {
	if x, y, ok := ints(a, b); ok {
		return multiplyWholes(x, y)
	}
	left, right := mustBetween("*", a, b)
	switch {
	case left == durationKind:
		return times(a.(time.Duration), b)
	case right == durationKind:
		return times(b.(time.Duration), a)
	}
	if x, y, ok := wholes(a, b); ok {
		return multiplyWholes(x, y)
	}
	return floatOf(a) * floatOf(b)
}

func multiplyWholes(x, y int) int {
	p, ok := product(x, y)
	if !ok {
		panic(overflow("%d * %d", x, y))
	}
	return p
}

func product(x, y int) (p int, ok bool) {
	p = x * y
	return p, x == 0 || p/x == y && (x != -1 || y != math.MinInt)
}

// times multiplies a duration.
func times(d time.Duration, by any) time.Duration {
	if y, ok := by.(int); ok {
		p, ok := product(int(d), y)
		if !ok {
			fail(longDuration)
		}
		return time.Duration(p)
	}
	f := float64(d) * floatOf(by)
	if !fits(f) {
		fail(longDuration)
	}
	return time.Duration(f)
}

// arithmetic does the rarer operations.
func (m *meter) arithmetic(operator string, a, b any) any {
	if x, y, ok := ints(a, b); ok && operator == "%" && y > 0 {
		return x % y
	}
	mustBetween(operator, a, b)
	switch operator {
	case "/":
		return floatOf(a) / floatOf(b)
	case "**":
		return power(a, b)
	case "..":
		return m.span(wholeOf(a), wholeOf(b))
	}
	x, y := wholeOf(a), wholeOf(b)
	switch y {
	case 0:
		fail("division by zero")
	case -1: // which divides everything, also the smallest integer
		return 0
	}
	return x % y
}

// power of integers is an integer, unless the second is negative.
func power(a, b any) any {
	x, y, ok := wholes(a, b)
	if !ok || y < 0 {
		return math.Pow(floatOf(a), floatOf(b))
	}
	p := 1
	for square, left := x, y; left > 0; left >>= 1 {
		if left&1 == 1 {
			if p, ok = product(p, square); !ok {
				panic(overflow("%d ** %d", x, y))
			}
		}
		if square, ok = product(square, square); !ok && left > 1 {
			panic(overflow("%d ** %d", x, y)) // because the remaining steps multiply by it
		}
	}
	return p
}

// span returns the list of the integers between two bounds.
func (m *meter) span(from, to int) []int {
	if to < from {
		return []int{}
	}
	n := uint64(to) - uint64(from) // their number minus one
	m.times(each, int64(min(n, math.MaxInt64-1))+1)
	all := make([]int, n+1)
	for i := range all {
		all[i] = from + i
	}
	return all
}

func isNumber(operator string, v any) any {
	if kindOf(v)&numberKind == 0 {
		fail("%s is not defined for %s", operator, kindName(v))
	}
	return v
}

func negate(v any) any {
	if f, ok := isNumber("-", v).(float64); ok {
		return -f
	}
	i := wholeOf(v)
	if i == math.MinInt {
		panic(overflow("-(%d)", i))
	}
	return -i
}
