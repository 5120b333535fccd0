package columns

import (
	"math"
	"math/big"
	"strings"
	"time"
)

// Decimal formats a number with scale digits after the point.
func Decimal(v *big.Int, scale int) string {
	if scale <= 0 {
		if scale < -1000 {
			scale = -1000
		}
		return new(big.Int).Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil)).String()
	}
	scale = min(scale, 1000) // more digits than any decimal has
	digits := new(big.Int).Abs(v).String()
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text := digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	if v.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// Date formats a day, counted from 1970 on, as 2006-01-02.
func Date(days int64) string {
	return time.Unix(days*86400, 0).UTC().Format(time.DateOnly)
}

// TimeOfDay formats a time since midnight as 15:04:05.999. unit is the number of decimal
// digits of a second.
func TimeOfDay(v int64, unit int) string {
	return at(v, unit).Format("15:04:05.999999999")
}

// Timestamp formats a time since 1970, where unit is the number of decimal digits of a
// second. In UTC it ends with Z; otherwise it has no zone.
func Timestamp(v int64, unit int, utc bool) string { return TimeText(at(v, unit), utc) }

// TimeText formats a time.
func TimeText(t time.Time, utc bool) string {
	layout := "2006-01-02T15:04:05.999999999"
	if utc {
		layout += "Z"
	}
	return t.Format(layout)
}

// at returns a time since 1970.
func at(v int64, unit int) time.Time {
	per := int64(1)
	for range unit {
		per *= 10
	}
	seconds, rest := v/per, v%per
	if rest < 0 {
		seconds, rest = seconds-1, rest+per
	}
	return time.Unix(seconds, rest*(1_000_000_000/per)).UTC()
}

// Half decodes a float of 16 bits.
func Half(b uint16) float64 {
	sign := 1.0
	if b>>15 != 0 {
		sign = -1
	}
	exponent, fraction := int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
