package loader

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A State says which batch comes next, for all ranks together. It does not
// depend on the number of ranks, so another number can resume. As text it has
// at most 64 bytes.
//
// The state after a batch is that after the whole round: one batch for each
// rank. Ranks that have had the same number of batches have equal states.
type State struct {
	// Plan identifies what the order depends on, except the seed.
	Plan Fingerprint
	Seed uint64
	// Epoch counts from 0.
	Epoch uint64
	// Position is the number of earlier samples in the epoch's order; for split
	// rows it counts tokens.
	Position int
}

// stateVersion is the first character of a state as text.
const stateVersion = "1"

// maxPosition exceeds all positions.
const maxPosition = math.MaxInt >> 1

// String returns the state as text: version, plan, seed, epoch and position,
// separated by dots, the numbers in base 36.
func (s State) String() string {
	return strings.Join([]string{
		stateVersion, s.Plan.String(), strconv.FormatUint(s.Seed, 36), strconv.FormatUint(s.Epoch, 36), strconv.FormatUint(uint64(s.Position), 36),
	}, ".")
}

// ErrState is the error of text that is not the state of a loader.
var ErrState = errors.New("is not the state of a loader")

// ParseState parses the exact output of [State.String].
func ParseState(text string) (s State, err error) {
	wrong := func(what string) (State, error) {
		return State{}, fmt.Errorf("%.80q %w: %s", text, ErrState, what)
	}
	parts := strings.Split(text, ".")
	if len(parts) != 5 {
		return wrong("it has five parts with dots between them")
	}
	if parts[0] != stateVersion {
		return wrong("its version is " + strconv.Quote(parts[0]) + ", and this program reads " + stateVersion)
	}
	if s.Plan, err = parseFingerprint(parts[1]); err != nil {
		return wrong("the plan: " + err.Error())
	}
	position := uint64(0)
	for _, n := range []struct {
		name string
		text string
		to   *uint64
	}{{"seed", parts[2], &s.Seed}, {"epoch", parts[3], &s.Epoch}, {"position", parts[4], &position}} {
		if *n.to, err = strconv.ParseUint(n.text, 36, 64); err != nil || strconv.FormatUint(*n.to, 36) != n.text {
			return wrong("the " + n.name + " is not a number to the base 36")
		}
	}
	s.Position = int(position)
	if position >= maxPosition {
		return wrong("the position is too large")
	}
	return s, nil
}

// MarshalText is [State.String], so that a state is a JSON string.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is [ParseState].
func (s *State) UnmarshalText(text []byte) (err error) {
	*s, err = ParseState(string(text))
	return err
}

// A Fingerprint identifies what the order of a plan depends on, except the
// seed. It has three parts, so that an error can name the part that differs.
type Fingerprint struct {
	Data    [5]byte // the samples: names, numbers and identities of the parts, selection, lengths
	Order   [5]byte // how they are drawn
	Batches [5]byte // how they are put into batches, except the number in batches by number
}

var fingerprintText = base64.RawURLEncoding.Strict()

// String returns the fingerprint as 20 characters.
func (f Fingerprint) String() string {
	return fingerprintText.EncodeToString(append(append(append(make([]byte, 0, 15), f.Data[:]...), f.Order[:]...), f.Batches[:]...))
}

func parseFingerprint(text string) (f Fingerprint, err error) {
	b, err := fingerprintText.DecodeString(text)
	if err != nil || len(b) != 15 || len(text) != 20 {
		return f, fmt.Errorf("%q is not 20 characters of base64", text)
	}
	copy(f.Data[:], b)
	copy(f.Order[:], b[5:])
	copy(f.Batches[:], b[10:])
	return f, nil
}

// A StateError says that a state belongs to another plan.
type StateError struct {
	State State
	// Differs lists the differences: "samples", "order", "batches", "seed",
	// "position".
	Differs []string
	text    string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the state %s cannot be resumed here: %s", e.State, e.text)
}

// Check returns a [StateError] if a state does not belong to the plan.
func (p *Plan) Check(s State) error {
	e := &StateError{State: s}
	var why []string
	differ := func(name, text string, args ...any) {
		e.Differs, why = append(e.Differs, name), append(why, fmt.Sprintf(text, args...))
	}
	if s.Plan.Data != p.print.Data {
		differ("samples", "it is of another flow, node or dataset, or of other samples of it; here there are %d", p.samples)
	}
	if s.Plan.Order != p.print.Order {
		differ("order", "it is of another order than %s, or of other weights or draws", p.Order)
	}
	if s.Plan.Batches != p.print.Batches {
		differ("batches", "it is of batches that are put together in another way")
	}
	if s.Seed != p.Seed {
		differ("seed", "its seed is %d and not %d", s.Seed, p.Seed)
	}
	if len(why) == 0 {
		if err := p.checkPosition(s); err != nil {
			differ("position", "%v", err)
		}
	}
	if len(why) == 0 {
		return nil
	}
	e.text = strings.Join(why, "; ") + ". Resume with the options of the saved state, or start without it"
	return e
}
