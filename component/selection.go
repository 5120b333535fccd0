package component

// A Selection says how often an operator returns each sample of its input.
type Selection int

// The selections.
const (
	AnyTimes Selection = iota // unknown
	AtMostOnce
	AtLeastOnce
	ExactlyOnce
)

// A Selector is a parameter struct of an operator that knows its [Selection].
type Selector interface {
	Selects() Selection
}

// SelectionFor returns the selection of an operator with these parameters.
func (c *Component) SelectionFor(params any) Selection {
	if s, ok := params.(Selector); ok {
		return s.Selects()
	}
	return AnyTimes
}

// DropsNone reports whether each sample is returned at least once.
func (s Selection) DropsNone() bool { return s == AtLeastOnce || s == ExactlyOnce }

// RepeatsNone reports whether each sample is returned at most once.
func (s Selection) RepeatsNone() bool { return s == AtMostOnce || s == ExactlyOnce }
