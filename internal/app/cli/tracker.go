package cli

import (
	"strings"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
)

// A tracker follows a run by its events, and draws it. The drawing depends on
// no clock except its arguments.
type tracker struct {
	flow, cache string
	start       time.Time
	nodes       []*tracked // needed nodes, in the order of the flow
	byName      map[string]*tracked
	notes       []string // the last lines of warnings and errors
}

// tracked is the state of a node in a tracker.
type tracked struct {
	name    string
	readers []*tracked
	last    flow.Event // latest event
	passes  bool       // it computes nothing when read, and only reorders samples or moves items
	scans   bool       // it reads all samples before it is read, and then passes them on
	started bool
	ended   bool
	failed  bool
	marks   []mark // of the last rateWindow
	phase   phase  // at the last drawing
}

// mark is the progress of a node at a time.
type mark struct {
	at   time.Time
	done int64
}

// rateWindow is the window for measuring rates. Initial cache hits do not
// affect the rate for longer than this.
const rateWindow = 10 * time.Second

const maxNotes = 5

func newTracker(f *flow.Flow, only []string, cache string, start time.Time) *tracker {
	all := map[string]*tracked{}
	t := &tracker{flow: f.Name, cache: cache, start: start, byName: all}
	var need func(n *flow.Node) *tracked
	need = func(n *flow.Node) *tracked {
		if all[n.Name] == nil {
			all[n.Name] = &tracked{name: n.Name, passes: passesOn(f, n), scans: n.Component.Scans && !n.Options.Checkpoint}
			for _, in := range n.From {
				if from, err := f.Node(in.Node); err == nil {
					before := need(from)
					before.readers = append(before.readers, all[n.Name])
				}
			}
		}
		return all[n.Name]
	}
	targets, _ := f.Targets(only...) // the error was already reported
	for _, n := range targets {
		need(n)
	}
	for _, n := range f.Nodes {
		if all[n.Name] != nil {
			t.nodes = append(t.nodes, all[n.Name])
		}
	}
	return t
}

// passesOn reports whether a node computes nothing for the samples that are
// read.
func passesOn(f *flow.Flow, n *flow.Node) bool {
	switch n.Component.Kind {
	case component.Op:
		return !n.Component.Maps
	case component.Map:
		m, err := n.Component.Mapper(envOf(f, n), n.Params)
		_, computes := m.(dataset.Transform)
		return err == nil && !computes
	}
	return false
}

func (t *tracker) observe(e flow.Event) {
	if e.Message != "" && e.Event == flow.RunError {
		t.note(e.Message)
	}
	n, ok := t.byName[e.Node]
	if !ok {
		return
	}
	n.last = e
	switch e.Event {
	case flow.NodeStarted:
		n.started = true
	case flow.NodeDone:
		n.ended = true
	case flow.RunError:
		n.failed = true
	}
	if len(n.marks) == 0 || n.marks[len(n.marks)-1].done != e.Done {
		n.marks = append(n.marks, mark{e.Time, e.Done})
	}
	for len(n.marks) > 2 && e.Time.Sub(n.marks[1].at) >= rateWindow {
		n.marks = n.marks[1:]
	}
}

// note adds a warning, line by line.
func (t *tracker) note(text string) {
	for line := range strings.Lines(text) {
		t.notes = append(t.notes, strings.TrimRight(line, "\r\n"))
	}
	t.notes = t.notes[max(0, len(t.notes)-maxNotes):]
}

// phase is the activity of a node.
type phase int

// The phases. If not all nodes fit on the screen, earlier phases take
// precedence.
const (
	unknown phase = iota
	failed
	running
	passing
	waiting
	done
)

func (p phase) String() string {
	return [...]string{"", "failed", "running", "passing", "waiting", "done"}[p]
}

// judge sets the phase of every node.
func (t *tracker) judge() {
	for _, n := range t.nodes {
		n.phase = unknown
	}
	for _, n := range t.nodes {
		n.judge()
	}
}

// judge derives the phase from the readers of a node, because nothing runs
// until it is read. A node that returns samples on request is as busy as its
// readers, passing if it computes nothing, and done when all readers are.
func (n *tracked) judge() phase {
	if n.phase == unknown {
		n.phase = n.judgeAgain()
	}
	return n.phase
}

func (n *tracked) judgeAgain() phase {
	e := n.last
	through := e.Total > 0 && e.Done == e.Total
	switch {
	case n.failed:
		return failed
	case !n.started:
		return waiting
	case n.ended || through && (!n.scans || len(n.readers) == 0):
		return done
	case len(n.readers) == 0 || e.Total > 0 && !through:
		return running
	}
	read, over := false, true
	for _, r := range n.readers {
		p := r.judge()
		if p == running || p == passing {
			return n.busy()
		}
		read, over = read || r.started, over && p == done
	}
	switch {
	case over:
		return done
	case read || through || n.passes && !n.scans:
		return waiting
	}
	return running // it reads what it needs before any node can read it
}

// busy returns the phase of a node that is read.
func (n *tracked) busy() phase {
	if n.passes {
		return passing
	}
	return running
}

// rate returns the recent samples per second of a node; 0 if unknown.
func (n *tracked) rate(now time.Time) float64 {
	if len(n.marks) < 2 {
		return 0
	}
	first, last := n.marks[0], n.marks[len(n.marks)-1]
	if took := now.Sub(first.at).Seconds(); took > 0 {
		return float64(last.done-first.done) / took
	}
	return 0
}
