package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// fonts is the font list; every viewer has one of them.
const fonts = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"

const (
	margin = 28
	header = 44 // height for the flow's name, with badges below
	status = 16 // and for the status of its run
	radius = 10
)

// svg collects a picture's elements.
type svg struct {
	strings.Builder
	left, top int // where the layout starts
}

// SVG writes the drawing as a self-contained picture without external fonts,
// scripts or files. It has a background, and separate colors for dark pages.
func (d *Drawing) SVG(w io.Writer) error {
	p := d.picture()
	items := d.legend()
	inner := max(p.width, legendLeast, headerWidth(d))
	legend := legendHeight(items, inner)
	s := &svg{left: margin + (inner-p.width)/2, top: margin + header}
	if d.report != nil {
		s.top += status
	}
	width, height := inner+2*margin, s.top+p.height+legend+margin
	s.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="%s" role="img">`, width, height, width, height, fonts)
	s.add(`<title>%s</title>`, escape(clean("flow "+d.name)))
	s.add(`<style>%s</style>`, darkStyle())
	s.add(`<rect width="%d" height="%d" rx="%d" %s/>`, width, height, radius, fill(paper))
	s.header(d, inner)
	for i, l := range p.lines {
		s.edge(d, d.edges[i], l)
	}
	for _, l := range p.labels {
		s.label(l, l.text)
	}
	for _, l := range p.numbers {
		s.label(l, "input "+l.text)
	}
	for i, b := range p.boxes {
		b.x, b.y = b.x+s.left, b.y+s.top
		s.node(d, d.nodes[i], b)
	}
	for i, l := range p.lines {
		s.ends(d.edges[i], l)
	}
	s.legend(items, margin, s.top+p.height+legendGap, inner)
	s.add(`</svg>`)
	_, err := io.WriteString(w, s.String())
	return err
}

// add adds a line.
func (s *svg) add(format string, args ...any) {
	fmt.Fprintf(s, format, args...)
	s.WriteByte('\n')
}

// text adds text that starts at a point.
func (s *svg) text(x, y, size int, attributes, text string) {
	s.add(`<text x="%d" y="%d" font-size="%d" %s>%s</text>`, x, y, size, attributes, escape(clean(text)))
}

// escape escapes a string for elements and attributes.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a Builder returns no error
	}
	return strings.ReplaceAll(b.String(), "&#xA;", "\n")
}

const titleSize = 16

func headerWidth(d *Drawing) int {
	return width(fit(clean(d.name), titleSize, 2*maxText), titleSize)
}

// header adds the flow's name, and the status of its run.
func (s *svg) header(d *Drawing, most int) {
	name := fit(clean(d.name), titleSize, 2*maxText)
	s.text(margin, margin+titleSize-2, titleSize, bold+fill(ink), name)
	if d.report == nil {
		return
	}
	color := faint
	text := fmt.Sprintf("%s in %.3g s", d.report.Status, d.report.Seconds)
	if d.report.Error != "" {
		color = failed
		text += ": " + d.report.Error
	}
	s.add(`<g><title>%s</title>`, escape(clean(text)))
	s.text(margin, margin+titleSize+status, smallSize, fill(color), fit(clean(text), smallSize, most))
	s.add(`</g>`)
}

const bold = `font-weight="700" `

// dashes returns the dash pattern of an edge with a stream.
func (e edge) dashes() string {
	if e.stream {
		return `stroke-dasharray="7 5" `
	}
	return ""
}

// strokeWidth returns the width of an edge.
func (e edge) strokeWidth() int {
	if e.several {
		return 6
	}
	return 2
}

func (s *svg) edge(d *Drawing, e edge, l line) {
	var path strings.Builder
	fmt.Fprintf(&path, "M%d %d", s.left+l.start.x, s.top+l.start.y)
	for _, b := range l.bends {
		middle := s.left + (b.from.x+b.to.x)/2
		fmt.Fprintf(&path, "H%dC%d %d %d %d %d %d", s.left+b.from.x,
			middle, s.top+b.from.y, middle, s.top+b.to.y, s.left+b.to.x, s.top+b.to.y)
	}
	length, _ := e.arrow()
	fmt.Fprintf(&path, "H%d", s.left+l.end.x-length+1) // ends before the point of the arrow
	s.add(`<path d="%s" stroke-width="%d" %s%s><title>%s</title></path>`, path.String(), e.strokeWidth(), e.dashes(), stroke(wire), escape(d.edgeTitle(e)))
}

// ends adds a circle where an edge starts, and an arrow where it leads.
func (s *svg) ends(e edge, l line) {
	s.add(`<circle cx="%d" cy="%d" r="%d" stroke-width="2" %s/>`, s.left+l.start.x, s.top+l.start.y, 3+e.strokeWidth()/2, filled(paper, wire))
	length, half := e.arrow()
	s.add(`<path d="M%d %dl%d %dv%dz" %s/>`, s.left+l.end.x, s.top+l.end.y, -length, -half, 2*half, fill(wire))
}

// arrow returns the length and half the width of an arrowhead.
func (e edge) arrow() (length, half int) { return 7 + e.strokeWidth(), 3 + e.strokeWidth() }

func (s *svg) label(l label, title string) {
	const height = 18
	x, y := s.left+l.x, s.top+l.y
	s.add(`<g><title>%s</title>`, escape(clean(title)))
	s.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" %s/>`, x, y-height/2, l.w, height, height/2, fill(paper))
	s.text(x+l.w/2, y+4, smallSize, `text-anchor="middle" `+fill(ink), fit(clean(l.text), smallSize, maxLabel))
	s.add(`</g>`)
}

// node adds the box of a node.
func (s *svg) node(d *Drawing, n node, b box) {
	c := colorOf(n.Component.Kind)
	s.add(`<g><title>%s</title>`, escape(n.title()))
	if n.failed() {
		s.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" stroke-width="3" %s/>`, b.x-6, b.y-6, b.w+12, b.h+12, radius+5, stroke(failed))
	}
	head := b.h
	if d.report == nil {
		s.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" %s/>`, b.x, b.y, b.w, b.h, radius, fill(c))
	} else {
		head -= panelHeight
		s.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" stroke-width="2" %s/>`, b.x+1, b.y+1, b.w-2, b.h-2, radius-1, filled(panel, c))
		s.add(`<path d="M%d %dv%da%d %d 0 0 1 %d %dh%da%d %d 0 0 1 %d %dv%dz" %s/>`, b.x, b.y+head, radius-head, radius, radius, radius, -radius,
			b.w-2*radius, radius, radius, radius, radius, head-radius, fill(c))
	}
	middle := b.y + head/2
	s.text(b.x+padding, middle-2, nameSize, bold+fill(onFill), fit(clean(n.Name), nameSize, maxText))
	s.text(b.x+padding, middle+16, smallSize, fill(onFill), fit(clean(n.Component.Name), smallSize, maxText))
	if d.report != nil {
		s.panel(n, box{b.x + padding, b.y + head, b.w - 2*padding, panelHeight})
	}
	s.badges(n.badges(), b.x+b.w-radius, b.y-3)
	s.add(`</g>`)
}

// panel adds the results of a run at a node.
func (s *svg) panel(n node, b box) {
	if n.report == nil {
		s.text(b.x, b.y+19, smallSize, fill(faint), "not run")
		return
	}
	samples, hits := n.counted()
	s.text(b.x, b.y+19, smallSize, bold+fill(ink), samples)
	if hits != "" {
		s.text(b.x+b.w, b.y+19, smallSize, `text-anchor="end" `+bold+fill(ink), hits)
	}
	s.bar(n.shares(), box{b.x, b.y + 27, b.w, 8})
	x := b.x
	for _, share := range n.shares() {
		s.add(`<circle cx="%d" cy="%d" r="4" %s/>`, x+4, b.y+47, fill(share.color))
		s.text(x+dotWidth-2, b.y+51, smallSize, fill(ink), share.text())
		x += dotWidth + width(share.text(), smallSize)
	}
}

// bar divides a bar among shares.
func (s *svg) bar(all []share, b box) {
	var total, before float64
	for _, share := range all {
		total += float64(share.n)
	}
	for i, share := range all {
		from := int(before / total * float64(b.w))
		before += float64(share.n)
		to := int(before / total * float64(b.w))
		if i < len(all)-1 {
			to-- // a gap
		}
		s.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="2" %s/>`, b.x+from, b.y, max(to-from, 2), b.h, fill(share.color))
	}
}

// badges adds badges on the upper edge of a box, right-aligned.
func (s *svg) badges(all []badge, right, y int) {
	x := right - badgesWidth(all)
	for _, b := range all {
		w := b.width()
		s.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" %s/>`, x, y-badgeHeight/2, w, badgeHeight, badgeHeight/2, filled(paper, wire))
		s.icon(b.icon, x+5, y-iconSize/2)
		if b.text != "" {
			s.text(x+iconSize+9, y+4, badgeText, fill(ink), b.text)
		}
		x += w + 4
	}
}

// icon is the outline of a square icon of size iconSize.
type icon string

const (
	pin  icon = "M3.5 1h5M4.5 1v4L2.5 7.5h7L7.5 5V1M6 7.5V11.5"
	disk icon = "M1.5 3v6c0 2.4 9 2.4 9 0V3c0-2.4-9-2.4-9 0c0 2.4 9 2.4 9 0M1.5 6c0 2.4 9 2.4 9 0"
	chip icon = "M3 3h6v6h-6zM4.5 3V1M7.5 3V1M4.5 11V9M7.5 11V9M3 4.5H1M3 7.5H1M11 4.5H9M11 7.5H9"
)

func (s *svg) icon(i icon, x, y int) {
	s.add(`<path transform="translate(%d %d)" d="%s" stroke-width="1.3" stroke-linejoin="round" stroke-linecap="round" %s/>`, x, y, i, stroke(ink))
}
