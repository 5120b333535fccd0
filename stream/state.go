package stream

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// A State is a position of a reader. The zero State is the beginning of any stream. It
// holds numbers and positions but no elements: about ten bytes, and two to four for each
// operator. It may be copied, and is a JSON string.
type State struct {
	of    string // shape of the stream, as shape.print returns it
	marks string
}

// stateVersion is the first character of an encoded state.
const stateVersion = "1"

var stateText = base64.RawURLEncoding.Strict()

// String returns the encoded state, "" for the zero state.
func (s State) String() string {
	if s == (State{}) {
		return ""
	}
	b := binary.AppendUvarint(nil, uint64(len(s.of)))
	b = append(append(b, s.of...), s.marks...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return stateVersion + stateText.EncodeToString(b)
}

// ErrState is the error of a string that does not encode a state.
var ErrState = errors.New("is not the state of a stream, or was changed")

// ParseState parses what [State.String] returned, and nothing else.
func ParseState(text string) (State, error) {
	if text == "" {
		return State{}, nil
	}
	if text[:1] != stateVersion {
		return State{}, fmt.Errorf("%.80q %w: its version is %.1q, and this program reads %s", text, ErrState, text, stateVersion)
	}
	b, err := stateText.DecodeString(text[1:])
	if err != nil || len(b) < 5 {
		return State{}, fmt.Errorf("%.80q %w", text, ErrState)
	}
	b, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	n, at := binary.Uvarint(b)
	if crc32.ChecksumIEEE(b) != sum || at <= 0 || n == 0 || n > uint64(len(b)-at) {
		return State{}, fmt.Errorf("%.80q %w", text, ErrState)
	}
	return State{string(b[at : at+int(n)]), string(b[at+int(n):])}, nil
}

// MarshalText returns [State.String].
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText calls [ParseState].
func (s *State) UnmarshalText(text []byte) (err error) {
	*s, err = ParseState(string(text))
	return err
}

// A StateError says that a state does not belong to the stream that was opened with it.
type StateError struct {
	State State
	text  string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("stream: the state %s cannot be resumed here: %s; resume it with the stream that it was made with, or begin without it", e.State, e.text)
}

// errBeyond is the error of a state after the end of its input.
var errBeyond = errors.New("the state is behind the end of the input: there is less of it than when the state was made")

// marks are what cursors wrote, to be read in the same order. Without marks every value
// is 0, which is the beginning.
type marks struct {
	b   []byte
	any bool // there are marks
	err error
}

func marksOf(b []byte) *marks { return &marks{b: slices.Clone(b), any: len(b) > 0} }

var errMarks = errors.New("its positions are not understood")

// maxNumber is greater than any position, so that sums do not overflow.
const maxNumber = 1 << 60

func (m *marks) number() uint64 {
	if !m.any || m.err != nil {
		return 0
	}
	n, at := binary.Uvarint(m.b)
	if at <= 0 || n > maxNumber {
		m.err = errMarks
		return 0
	}
	m.b = m.b[at:]
	return n
}

// below is number for a value that must be less than n.
func (m *marks) below(n int) int {
	v := m.number()
	if v >= uint64(max(n, 1)) {
		m.err = errMarks
		return 0
	}
	return int(v)
}

// text returns what appendText wrote. The caller may overwrite it and append to it.
func (m *marks) text() []byte {
	n := m.number()
	if n > uint64(len(m.b)) {
		m.err = errMarks
		return nil
	}
	b := m.b[:n:n]
	m.b = m.b[n:]
	return b
}

func appendText(to, text []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// end returns an error if the marks were not read exactly.
func (m *marks) end() error {
	if m.err == nil && len(m.b) > 0 {
		m.err = errMarks
	}
	return m.err
}
