package render

import (
	"slices"

	"github.com/larder-data/larder/component"
)

const (
	legendLeast = 420 // fits a few entries per row
	legendGap   = 40  // above it
	legendRow   = 24
	legendMark  = 26 // width of the symbol
	legendSpace = 18 // between entries
)

// entry explains one element of the picture.
type entry struct {
	text string
	draw func(s *svg, x, y int) // at the left end and the centre
}

func (e entry) width() int { return legendMark + width(e.text, smallSize) + legendSpace }

// legend returns entries for the elements that occur in the picture.
func (d *Drawing) legend() (all []entry) {
	add := func(there bool, text string, draw func(s *svg, x, y int)) {
		if there {
			all = append(all, entry{text, draw})
		}
	}
	some := func(is func(node) bool) bool { return slices.ContainsFunc(d.nodes, is) }
	kind := func(k component.Kind) bool { return some(func(n node) bool { return n.Component.Kind == k }) }
	add(kind(component.Source), "source", swatch(source))
	add(kind(component.Map) || kind(component.Op), "mapper, operator", swatch(operator))
	add(kind(component.Sink), "sink", swatch(sink))
	for _, w := range []struct {
		edge edge
		text string
	}{{edge{}, "dataset"}, {edge{several: true}, "several datasets"}, {edge{stream: true}, "stream"}} {
		same := func(e edge) bool { return e.several == w.edge.several && e.stream == w.edge.stream }
		add(slices.ContainsFunc(d.edges, same), w.text, wireOf(w.edge))
	}
	add(some(node.pinned), "checkpoint", iconMark(pin))
	add(some(node.stored), "cached on disk", iconMark(disk))
	add(some(node.cached), "cached in memory", iconMark(chip))
	for _, c := range []struct {
		color color
		text  string
	}{{computed, "computed"}, {memory, "from memory"}, {store, "from the store"}, {failed, "failed"}} {
		there := func(n node) bool {
			return slices.ContainsFunc(n.shares(), func(s share) bool { return s.color == c.color })
		}
		add(some(there), c.text, func(s *svg, x, y int) { s.add(`<circle cx="%d" cy="%d" r="5" %s/>`, x+13, y, fill(c.color)) })
	}
	return all
}

func swatch(c color) func(s *svg, x, y int) {
	return func(s *svg, x, y int) {
		s.add(`<rect x="%d" y="%d" width="18" height="14" rx="4" %s/>`, x+2, y-7, fill(c))
	}
}

func wireOf(e edge) func(s *svg, x, y int) {
	return func(s *svg, x, y int) {
		s.add(`<path d="M%d %dh20" stroke-width="%d" %s%s/>`, x, y, e.strokeWidth(), e.dashes(), stroke(wire))
	}
}

func iconMark(i icon) func(s *svg, x, y int) {
	return func(s *svg, x, y int) { s.icon(i, x+6, y-iconSize/2) }
}

// rows breaks entries into rows.
func rows(all []entry, most int) (rows [][]entry) {
	used := most + 1
	for _, e := range all {
		if used += e.width(); used-legendSpace > most {
			rows, used = append(rows, nil), e.width()
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
	}
	return rows
}

func legendHeight(all []entry, most int) int {
	return legendGap + (len(rows(all, most))-1)*legendRow
}

func (s *svg) legend(all []entry, left, top, most int) {
	for i, row := range rows(all, most) {
		x, y := left, top+i*legendRow
		for _, e := range row {
			e.draw(s, x, y)
			s.text(x+legendMark, y+4, smallSize, fill(faint), e.text)
			x += e.width()
		}
	}
}
