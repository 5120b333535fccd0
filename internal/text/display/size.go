package display

import (
	"errors"
	"strconv"
	"strings"
)

// ParseSize parses a number of bytes such as 256MiB, 1GB or 1000, and drops parts of a byte.
// It returns an error, without the text, for other texts and for numbers below 0 or above
// 2^62.
func ParseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		factor float64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"KB", 1e3}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
	}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(f >= 0) || f*u.factor > 1<<62 {
			break
		}
		return int64(f * u.factor), nil
	}
	return 0, errors.New("is not a size such as 256MiB, 1GB or 1000")
}
