package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

// A tracker knows how a run gets on, by the events that it is told of, and
// draws it. It draws nothing that depends on a clock but what it is given.
type tracker struct {
	flow, cache string
	start       time.Time
	nodes       []*tracked // those that the run needs, in the order of the flow
	byName      map[string]*tracked
	notes       []string // the last lines of warnings and errors
}

// tracked is what a tracker knows of a node.
type tracked struct {
	name    string
	readers []*tracked
	last    flow.Event // the latest
	started bool
	ended   bool
	failed  bool
	marks   []mark // of the last rateWindow
	phase   phase  // as of the last drawing
}

// mark is how far a node had got.
type mark struct {
	at   time.Time
	done int64
}

// rateWindow is the time that rates are measured over. What was found in the
// store at first does not make the rest look quick for longer than this.
const rateWindow = 10 * time.Second

// maxNotes is how many lines of warnings are shown at most.
const maxNotes = 5

func newTracker(f *flow.Flow, only []string, cache string, start time.Time) *tracker {
	all := map[string]*tracked{}
	t := &tracker{flow: f.Name, cache: cache, start: start, byName: all}
	var need func(n *flow.Node) *tracked
	need = func(n *flow.Node) *tracked {
		if all[n.Name] == nil {
			all[n.Name] = &tracked{name: n.Name}
			for _, in := range n.From {
				if from, err := f.Node(in.Node); err == nil {
					before := need(from)
					before.readers = append(before.readers, all[n.Name])
				}
			}
		}
		return all[n.Name]
	}
	for _, n := range f.Nodes {
		target := n.Component.Kind == component.Sink || n.Options.Checkpoint
		if slices.Contains(only, n.Name) || slices.Contains(only, n.Base) || len(only) == 0 && target {
			need(n)
		}
	}
	for _, n := range f.Nodes {
		if all[n.Name] != nil {
			t.nodes = append(t.nodes, all[n.Name])
		}
	}
	return t
}

// observe takes in an event.
func (t *tracker) observe(e flow.Event) {
	if e.Message != "" && (e.Event == flow.Warning || e.Event == flow.RunError) {
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

// note adds a warning, each of its lines on its own.
func (t *tracker) note(text string) {
	for line := range strings.Lines(text) {
		t.notes = append(t.notes, strings.TrimRight(line, "\r\n"))
	}
	t.notes = t.notes[max(0, len(t.notes)-maxNotes):]
}

// phase says what a node is about.
type phase int

// The phases. Where not all nodes can be shown, those of the first are.
const (
	unknown phase = iota
	failed
	running
	waiting
	done
)

func (p phase) String() string { return [...]string{"", "failed", "running", "waiting", "done"}[p] }

// judge finds out the phase of every node.
func (t *tracker) judge() {
	for _, n := range t.nodes {
		n.phase = unknown
	}
	for _, n := range t.nodes {
		n.judge()
	}
}

// judge looks at the nodes that read a node, because nothing runs before it is
// read: a node that puts out samples when asked is as busy as those that ask,
// and done when all of them are.
func (n *tracked) judge() phase {
	if n.phase == unknown {
		n.phase = n.judgeAnew()
	}
	return n.phase
}

func (n *tracked) judgeAnew() phase {
	switch e := n.last; {
	case n.failed:
		return failed
	case !n.started:
		return waiting
	case n.ended || e.Total > 0 && e.Done == e.Total:
		return done
	case len(n.readers) == 0 || e.Total > 0:
		return running
	}
	read, over := false, true
	for _, r := range n.readers {
		p := r.judge()
		if p == running {
			return running
		}
		read, over = read || r.started, over && p == done
	}
	switch {
	case over:
		return done
	case read:
		return waiting
	}
	return running // it opens or reads what it needs before anyone can read it
}

// rate is how many samples a second a node got through lately; 0 where that
// cannot be told.
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

// lines draws the run on a terminal of so many columns and rows. No line is
// wider, and there are no more.
func (t *tracker) lines(now time.Time, width, height int, color bool) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	t.judge()
	lines := []string{t.header(now, width)}
	rows := height - len(lines)
	notes := t.notes
	if most := min(maxNotes, height/5); height < 10 {
		notes = nil // the nodes need the room; notes are seen at the end
	} else if len(notes) > most {
		notes = notes[len(notes)-most:]
	}
	if len(notes) > 0 {
		rows -= len(notes) + 1
	}
	lines = append(lines, t.table(now, width, rows, color)...)
	if len(notes) > 0 {
		lines = append(lines, "")
	}
	for _, note := range notes {
		lines = append(lines, cut(printable(note), width))
	}
	return lines
}

func (t *tracker) header(now time.Time, width int) string {
	var over int
	for _, n := range t.nodes {
		if n.phase == done {
			over++
		}
	}
	text := fmt.Sprintf("%s  %d of %d nodes done  %s", printable(t.flow), over, len(t.nodes), clock(now.Sub(t.start)))
	if room := width - textWidth(text) - len("  cache "); t.cache != "" && room > 10 {
		text += "  cache " + cutFront(printable(t.cache), room)
	}
	return cut(text, width)
}

// column is one column of the table. Where there is no room for all, those of
// the highest rank are left out.
type column struct {
	title string
	rank  int
	least int // columns; what changes all the time must not move the rest
	right bool
	text  func(n *tracked, now time.Time) string
}

var columns = []column{
	{"node", 0, 0, false, func(n *tracked, _ time.Time) string { return printable(n.name) }},
	{"state", 1, 7, false, func(n *tracked, _ time.Time) string { return n.phase.String() }},
	{"", 4, leastBar, false, nil}, // the bar
	{"samples", 2, 0, true, func(n *tracked, _ time.Time) string {
		switch e := n.last; {
		case e.Total > 0:
			return fmt.Sprintf("%d/%d", e.Done, e.Total)
		default:
			return count(e.Done)
		}
	}},
	{"rate", 5, 8, true, func(n *tracked, now time.Time) string {
		if r := n.rate(now); n.phase == running && r > 0 {
			return perTime(r)
		}
		return "."
	}},
	{"left", 3, 6, true, func(n *tracked, now time.Time) string {
		if r := n.rate(now); n.phase == running && n.last.Total > 0 && r > 0 {
			return clock(time.Duration(float64(n.last.Total-n.last.Done) / r * float64(time.Second)))
		}
		return "."
	}},
	{"computed", 6, 0, true, func(n *tracked, _ time.Time) string { return count(n.last.Computed) }},
	{"memory", 8, 0, true, func(n *tracked, _ time.Time) string { return count(n.last.FromMemory) }},
	{"store", 7, 0, true, func(n *tracked, _ time.Time) string { return count(n.last.FromStore) }},
}

const (
	leastBar = 8
	mostBar  = 32
	gap      = 2 // columns between two
)

// table draws a line for each node, under a line of titles.
func (t *tracker) table(now time.Time, width, height int, color bool) []string {
	nodes, more := t.shown(height - 1)
	if height < 2 || len(nodes) == 0 {
		return nil
	}
	shown, widths := fit(nodes, now, width)
	line := func(cell func(c column, width int) string) string {
		var cells []string
		for i, c := range shown {
			cells = append(cells, cell(c, widths[i]))
		}
		return strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " ")
	}
	lines := []string{line(func(c column, w int) string { return padded(c.title, w, c.right) })}
	for _, n := range nodes {
		lines = append(lines, line(func(c column, w int) string {
			switch {
			case c.text == nil:
				return n.bar(w)
			case c.title == "state" && color:
				return colored(n.phase, padded(c.text(n, now), w, c.right))
			}
			return padded(c.text(n, now), w, c.right)
		}))
	}
	if more != "" {
		lines = append(lines, cut(more, width))
	}
	return lines
}

// shown picks the nodes for so many lines, and says what the others are.
func (t *tracker) shown(height int) (nodes []*tracked, more string) {
	if len(t.nodes) <= height {
		return t.nodes, ""
	}
	byPhase := slices.Clone(t.nodes)
	slices.SortStableFunc(byPhase, func(a, b *tracked) int { return cmp.Compare(a.phase, b.phase) })
	first := byPhase[:max(0, height-1)]
	counts := map[phase]int{}
	for _, n := range byPhase[len(first):] {
		counts[n.phase]++
	}
	var texts []string
	for p := failed; p <= done; p++ {
		if counts[p] > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", counts[p], p))
		}
	}
	for _, n := range t.nodes {
		if slices.Contains(first, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes, "and " + strings.Join(texts, ", ")
}

// fit picks the columns that there is room for, and how wide each is.
func fit(nodes []*tracked, now time.Time, width int) (shown []column, widths []int) {
	total := -gap
	for _, c := range columns {
		w := max(c.least, textWidth(c.title))
		for _, n := range nodes {
			if c.text != nil {
				w = max(w, textWidth(c.text(n, now)))
			}
		}
		shown, widths = append(shown, c), append(widths, w)
		total += w + gap
	}
	if over := widths[0] - max(8, width/3); total > width && over > 0 {
		widths[0] -= over
		total -= over
	}
	for total > width && len(shown) > 1 {
		last := 0
		for i, c := range shown {
			if c.rank > shown[last].rank {
				last = i
			}
		}
		total -= widths[last] + gap
		shown, widths = slices.Delete(shown, last, last+1), slices.Delete(widths, last, last+1)
	}
	if len(shown) == 1 {
		return shown, []int{min(widths[0], width)}
	}
	if i := slices.IndexFunc(shown, func(c column) bool { return c.text == nil }); i >= 0 {
		widths[i] += min(width-total, mostBar-leastBar)
	}
	return shown, widths
}

// bar draws how much of its samples a node has done, where that is known.
func (n *tracked) bar(width int) string {
	e := n.last
	if e.Total <= 0 {
		return strings.Repeat(" ", width)
	}
	inner := width - 2
	full := int(float64(inner) * min(1, float64(e.Done)/float64(e.Total)))
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", inner-full) + "]"
}

// colored puts a text in the color of a phase.
func colored(p phase, text string) string {
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", [...]int{0, 31, 36, 2, 32}[p], text)
}

// perTime shows a rate.
func perTime(perSecond float64) string {
	switch {
	case perSecond >= 10:
		return fmt.Sprintf("%.0f/s", perSecond)
	case perSecond >= 0.5:
		return fmt.Sprintf("%.1f/s", perSecond)
	case perSecond*60 >= 0.5:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	default:
		return fmt.Sprintf("%.1f/h", perSecond*3600)
	}
}

// clock shows a time to the second, or to the minute where it is long.
func clock(d time.Duration) string {
	switch {
	case d > 1000*time.Hour:
		return "long"
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}
