package stream

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// A shape describes a stream: its operators with their parameters, each before its
// inputs.
type shape struct {
	lines []string
	depth int
	// unknown lists what else the content of the stream depends on: functions, and sources
	// without an identity.
	unknown []string
	err     error // of invalid parameters
}

// op writes an operator. Each parameter has the form key=value.
func (s *shape) op(name string, params ...string) {
	line := name
	if len(params) > 0 {
		line += "(" + strings.Join(params, " ") + ")"
	}
	s.lines = append(s.lines, fmt.Sprintf("%d %s", s.depth, line))
}

// function records that the last operator depends on a function.
func (s *shape) function() {
	s.unknown = append(s.unknown, "the function of "+s.name(len(s.lines)-1))
}

// input writes the shape of an input of the last operator.
func (s *shape) input(describe func(*shape)) {
	s.depth++
	describe(s)
	s.depth--
}

func (s *shape) name(i int) string {
	_, name, _ := strings.Cut(s.lines[i], " ")
	return name
}

func shapeOf[T any](s Stream[T]) *shape {
	var sh shape
	s.of().describe(&sh)
	return &sh
}

func param(name string, value any) string { return fmt.Sprintf("%s=%v", name, value) }

const (
	printSum  = 6  // checksum bytes for the whole
	printLine = 2  // checksum bytes for an operator
	maxLines  = 16 // operators with a checksum
)

// print returns the form of a shape in states: a checksum of the whole, and a short one
// for each of the first operators, to report which of them differs.
func (s *shape) print() string {
	sum := sha256.Sum256([]byte(strings.Join(s.lines, "\n")))
	b := append(make([]byte, 0, printSum+printLine*maxLines), sum[:printSum]...)
	for _, l := range s.lines[:min(len(s.lines), maxLines)] {
		sum := sha256.Sum256([]byte(l))
		b = append(b, sum[:printLine]...)
	}
	return string(b)
}

// differs describes how a state does not match this shape; "" means that it matches.
func (s *shape) differs(print string) string {
	own := s.print()
	if own == print {
		return ""
	}
	if len(print) < printSum || (len(print)-printSum)%printLine != 0 {
		return "it is not understood"
	}
	theirs, ours := print[printSum:], own[printSum:]
	for i := 0; i < min(len(theirs), len(ours)); i += printLine {
		if theirs[i:i+printLine] != ours[i:i+printLine] {
			return fmt.Sprintf("it is of another stream, which has another operator or other parameters where this one has %s (operator %d from the end)", s.name(i/printLine), i/printLine+1)
		}
	}
	if len(theirs) != len(ours) {
		return fmt.Sprintf("it is of another stream, which consists of %d operators and sources where this one has %d", len(theirs)/printLine, len(ours)/printLine)
	}
	return fmt.Sprintf("it is of another stream, whose first %d operators are the same", len(ours)/printLine)
}
