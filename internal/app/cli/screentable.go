package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// lines draws the run for a terminal of the given size. No line is wider than
// width, and there are at most height lines.
func (t *tracker) lines(now time.Time, width, height int, color bool) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	t.judge()
	lines := []string{t.header(now, width)}
	rows := height - len(lines)
	notes := t.notes
	if most := min(maxNotes, height/5); height < 10 {
		notes = nil // the nodes need the lines; notes are printed at the end
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
	if space := width - textWidth(text) - len("  cache "); t.cache != "" && space > 10 {
		text += "  cache " + cutFront(printable(t.cache), space)
	}
	return cut(text, width)
}

// column is one column of the table. If the terminal is too narrow, the columns
// with the highest rank are left out.
type column struct {
	title string
	rank  int
	least int // minimum width, so that changing values do not move the rest
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
	maxBar   = 32
	gap      = 2 // columns between two
)

// table draws a line for each node, under a header.
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

// shown selects the nodes for a number of lines, and summarises the others.
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

// fit selects the columns that fit, and their widths.
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
		widths[i] += min(width-total, maxBar-leastBar)
	}
	return shown, widths
}

func (n *tracked) bar(width int) string {
	e := n.last
	if e.Total <= 0 {
		return strings.Repeat(" ", width)
	}
	inner := width - 2
	full := int(float64(inner) * min(1, float64(e.Done)/float64(e.Total)))
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", inner-full) + "]"
}

func colored(p phase, text string) string {
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", [...]int{0, 31, 36, 36, 2, 32}[p], text)
}
