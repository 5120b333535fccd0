package codec

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// The core schema of YAML 1.2.2, section 10.3.2.
var (
	yamlInt   = regexp.MustCompile(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	yamlFloat = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
	yamlInf   = regexp.MustCompile(`^[-+]?\.(?:inf|Inf|INF)$`)
)

// plainYAML resolves a scalar that is neither quoted nor tagged.
func plainYAML(s string) (any, error) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), nil
	}
	switch first := s[0]; {
	case first != '+' && first != '-' && first != '.' && (first < '0' || first > '9'):
		return s, nil
	case yamlInt.MatchString(s):
		return intYAML(s)
	case yamlFloat.MatchString(s):
		return floatYAML(s)
	case yamlInf.MatchString(s):
		if first == '-' {
			return math.Inf(-1), nil
		}
		return math.Inf(1), nil
	}
	return s, nil
}

// intYAML returns an int64, or a *big.Int if it does not fit.
func intYAML(s string) (any, error) {
	if len(s) > 2 && s[0] == '0' && s[1] == 'o' {
		return wideNumber(s[2:], 8)
	}
	if len(s) > 2 && s[0] == '0' && s[1] == 'x' {
		return wideNumber(s[2:], 16)
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	return wideNumber(s, 10)
}

func floatYAML(s string) (any, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("number %s exceeds 64 bits", s)
	}
	return f, nil
}
