package expr

import (
	"encoding/base64"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/builtin"
)

// converts implements the functions that convert between kinds.
func (m *meter) converts(name string, args []any) (v any, ok bool) {
	switch name {
	case "type":
		switch kindOf(args[0]) {
		case wholeKind:
			return "int", true // also for more than 64 bits
		case timeKind:
			return "time", true
		case durationKind:
			return "duration", true
		case zoneKind:
			return "timezone", true
		}
		return language(name, args), true
	case "int":
		return toWhole(args[0]), true
	case "float":
		return toFloat(args[0]), true
	case "string":
		return asText(args[0]), true
	case "toJSON":
		return indented(args[0]), true
	case "fromJSON":
		return m.readJSON(args[0].(string)), true
	case "toBase64":
		return base64.StdEncoding.EncodeToString([]byte(args[0].(string))), true
	case "fromBase64":
		b, err := base64.StdEncoding.DecodeString(args[0].(string))
		if err != nil {
			fail("%q is not base64", short(args[0].(string)))
		}
		if !utf8.Valid(b) {
			fail("the bytes of %q are not UTF-8 text", short(args[0].(string)))
		}
		return string(b), true
	case "duration", "date", "timezone":
		return m.dated(name, args), true
	}
	return nil, false
}

// toWhole returns a number without its fraction, or the integer in a string.
func toWhole(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) {
			fail("int is not defined for NaN, such as 0 / 0")
		}
		if !fits(v) {
			panic(overflow("int(%s)", appendFloat(nil, v)))
		}
		return int(v)
	case time.Duration:
		return int(v)
	case string:
		const most = 1000 // digits, because conversion of many is slow
		i, ok := new(big.Int).SetString(v[:min(len(v), most)], 10)
		if !ok {
			fail("%q is not an integer", short(v))
		}
		if len(v) > most {
			panic(overflow("%s", short(v)))
		}
		return wholeOf(plain(i))
	}
	return wholeOf(v)
}

func toFloat(v any) any {
	s, ok := v.(string)
	if !ok {
		return floatOf(v)
	}
	if strings.ContainsAny(s, "_xX") { // syntax of Go: 1_000, 0x1p3
		fail("%q is not a number", short(s))
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && math.IsInf(f, 0) {
		fail("%q exceeds the range of numbers", short(s))
	}
	if err != nil {
		fail("%q is not a number", short(s))
	}
	return f
}

// language calls a function of the language that accepts all its arguments.
func language(name string, args []any) any {
	v, err := library(name, args)
	if err != nil {
		fail("%s is not defined for these values", name)
	}
	return v
}

// library calls a function of the library.
func library(name string, args []any) (v any, err error) {
	f := builtin.Builtins[builtin.Index[name]]
	switch {
	case f.Fast != nil:
		return f.Fast(args[0]), nil
	case f.Safe != nil:
		v, _, err = f.Safe(args...)
		return v, err
	}
	return f.Func(args...)
}
