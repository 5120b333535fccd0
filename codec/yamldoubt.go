package codec

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// doubt reports a plain scalar that YAML 1.1 does not read as v.
func (r yamlReader) doubt(n *yaml.Node, v any) {
	if old := yaml11(n.Value); !sameScalar(old, v) {
		r.note(Ambiguity{n.Line, n.Value, fmt.Sprintf("%s in YAML 1.2 (Larder), but %s in YAML 1.1 (PyYAML)", described(v), described(old))})
	}
}

// described names a scalar and its type.
func described(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "the boolean " + strconv.FormatBool(v)
	case yamlDate:
		return "a date"
	case yamlSign:
		return "an error"
	case string:
		return "the string " + strconv.Quote(v)
	}
	return fmt.Sprintf("the number %v", v)
}

// yamlDate is a date of YAML 1.1.
type yamlDate string

// yamlSign is a sign of YAML 1.1 for merging or for a default value; it has no value of its
// own.
type yamlSign string

// The types of YAML 1.1 (https://yaml.org/type), as PyYAML resolves them: y and n are
// strings, and floats need a point, and a sign of the exponent.
var (
	yaml11Int   = regexp.MustCompile(`^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	yaml11Float = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$`)
	yaml11Date  = regexp.MustCompile(`^[0-9]{4}-(?:[0-9]{2}-[0-9]{2}|[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?)$`)
)

// yaml11Word resolves the words of version 1.1.
func yaml11Word(s string) (v any, ok bool) {
	switch s {
	case "<<", "=":
		return yamlSign(s), true
	case "", "~", "null", "Null", "NULL":
		return nil, true
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, true
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, true
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1), true
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1), true
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	}
	return nil, false
}

// yaml11 resolves a scalar that is neither quoted nor tagged.
func yaml11(s string) any {
	if v, ok := yaml11Word(s); ok {
		return v
	}
	if !strings.ContainsAny(s[:1], "+-.0123456789") {
		return s
	}
	switch digits := strings.ReplaceAll(s, "_", ""); {
	case yaml11Date.MatchString(s):
		return yamlDate(s)
	case yaml11Int.MatchString(s):
		return yaml11Whole(digits)
	case yaml11Float.MatchString(s) && strings.Contains(s, ":"):
		return sexagesimal(digits)
	case yaml11Float.MatchString(s):
		f, _ := strconv.ParseFloat(digits, 64)
		return f
	}
	return s
}

func yaml11Whole(s string) any {
	sign, digits := "", s
	if s[0] == '-' || s[0] == '+' {
		sign, digits = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	base := 10
	switch {
	case strings.Contains(digits, ":"):
		return yaml11Sixties(sign, digits)
	case strings.HasPrefix(digits, "0b"):
		base, digits = 2, digits[2:]
	case strings.HasPrefix(digits, "0x"):
		base, digits = 16, digits[2:]
	case len(digits) > 1 && digits[0] == '0':
		base = 8
	}
	v, err := wideNumber(sign+digits, base)
	if err != nil {
		return s
	}
	return v
}

// yaml11Sixties reads an integer in base 60: 1:30 is 90.
func yaml11Sixties(sign, s string) any {
	n := new(big.Int)
	for part := range strings.SplitSeq(s, ":") {
		d, ok := new(big.Int).SetString(part, 10)
		if !ok || len(s) > maxDigits {
			return s
		}
		n.Add(n.Mul(n, big.NewInt(60)), d)
	}
	if sign == "-" {
		n.Neg(n)
	}
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// sexagesimal reads a fraction in base 60.
func sexagesimal(s string) any {
	f, sign := 0.0, 1.0
	if s[0] == '-' {
		sign = -1
	}
	for part := range strings.SplitSeq(strings.TrimLeft(s, "+-"), ":") {
		d, _ := strconv.ParseFloat(part, 64)
		f = f*60 + d
	}
	return sign * f
}
