package flat

import "strconv"

// Distance is along the axes.
func Distance(a, b float64) float64 { return a + b }

// A Step is a step forward.
type Step int

func (s Step) String() string { return "steps: " + strconv.Itoa(int(s)) }

// A Leap is more.
type Leap int

func (l Leap) String() string { return "leaps: " + strconv.Itoa(int(l)) }
