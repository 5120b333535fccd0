package codec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/larder-data/larder/array"
)

// An npyHeader holds the header of a NumPy file: a Python dictionary such as {'descr':
// '<f4', 'fortran_order': False, 'shape': (2, 3), }.
type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
}

var errNPYHeader = errors.New("the header is not a dictionary of descr, fortran_order and shape")

func parseNPYHeader(text []byte) (h npyHeader, err error) {
	s := npyScanner{rest: string(text)}
	if !s.next("{") {
		return h, errNPYHeader
	}
	seen := map[string]bool{}
	for !s.next("}") {
		name, ok := s.quoted()
		if !ok || seen[name] || !s.next(":") {
			return h, errNPYHeader
		}
		seen[name] = true
		switch name {
		case "descr":
			if h.descr, ok = s.quoted(); !ok && s.next("[") {
				return h, errors.New("an array of records is not supported; save its fields with numpy.savez('x.npz', **{f: array[f] for f in array.dtype.names})")
			}
		case "fortran_order":
			h.fortran = s.next("True")
			ok = h.fortran || s.next("False")
		case "shape":
			h.shape, ok = s.tuple()
		default:
			ok = false
		}
		if !ok {
			return h, fmt.Errorf("%w: at %q", errNPYHeader, name)
		}
		if !s.next(",") && !strings.HasPrefix(s.trim(), "}") {
			return h, errNPYHeader
		}
	}
	if len(seen) != 3 || s.trim() != "" {
		return h, errNPYHeader
	}
	return h, nil
}

// An npyScanner reads from the front of a string.
type npyScanner struct{ rest string }

func (s *npyScanner) trim() string {
	s.rest = strings.TrimLeftFunc(s.rest, unicode.IsSpace)
	return s.rest
}

// next skips word if it comes next.
func (s *npyScanner) next(word string) (ok bool) {
	s.rest, ok = strings.CutPrefix(s.trim(), word)
	return ok
}

func (s *npyScanner) quoted() (string, bool) {
	rest := s.trim()
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		return "", false
	}
	text, after, ok := strings.Cut(rest[1:], rest[:1])
	if ok {
		s.rest = after
	}
	return text, ok
}

// tuple reads numbers in parentheses: (), (3,), (2, 3), and (2L, 3L) of Python 2. As in
// Python, (3) is not a tuple: one number needs its comma.
func (s *npyScanner) tuple() ([]int, bool) {
	if !s.next("(") {
		return nil, false
	}
	shape := []int{}
	for !s.next(")") {
		digits := 0
		for rest := s.trim(); digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9'; {
			digits++
		}
		n, err := strconv.Atoi(s.rest[:digits])
		if err != nil || len(shape) == array.MaxRank {
			return nil, false
		}
		shape, s.rest = append(shape, n), s.rest[digits:]
		s.next("L")
		if !s.next(",") && (len(shape) == 1 || !strings.HasPrefix(s.trim(), ")")) {
			return nil, false
		}
	}
	return shape, true
}
