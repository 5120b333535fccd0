package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes in charts, in pixels.
const (
	labels  = 290 // width of the names of systems
	plot    = 430 // width of the bars
	figures = 110 // width of the figures after them
	line    = 20  // height of a bar with its distance
	panel   = 34  // height of a panel's title
)

// colours are those of Larder, of the others, and of the lines in charts of growth.
var (
	ours   = "#0b6e4f"
	others = "#8da9c4"
	lines  = []string{"#0b6e4f", "#c1666b", "#4357ad", "#e0a030", "#7a7a7a"}
)

// draw returns the chart of a row, with a panel for each column that has one.
func draw(r Results, row Row) []byte {
	var b bytes.Buffer
	y := 8
	for _, col := range row.Columns {
		if !col.Chart {
			continue
		}
		if row.Sizes != nil {
			y = curves(&b, r, row, col, y)
		} else {
			y = bars(&b, r, row, col, y)
		}
	}
	const width = labels + plot + figures
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="white"/>
%s</svg>
`, width, y, width, y, b.String())
}

func text(b *bytes.Buffer, x, y float64, anchor, style, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, style, html.EscapeString(s))
}

// scale is a logarithmic axis.
type scale struct{ base, least, most float64 } // least and most are logarithms

// scaleOf covers whole powers around values: of ten, or of four for bytes.
func scaleOf(k Kind, values []float64) scale {
	s := scale{10, math.Inf(1), math.Inf(-1)}
	if k == Bytes {
		s.base = 4
	}
	for _, v := range values {
		s.least, s.most = min(s.least, math.Floor(s.log(v)+1e-9)), max(s.most, math.Ceil(s.log(v)-1e-9))
	}
	if s.least >= s.most {
		s.most = s.least + 1
	}
	return s
}

func (s scale) log(v float64) float64 { return math.Log(v) / math.Log(s.base) }

// at returns the position of a value, between 0 and 1.
func (s scale) at(v float64) float64 { return (s.log(v) - s.least) / (s.most - s.least) }

func (s scale) ticks() (list []float64) {
	for e := math.Ceil(s.least); e <= s.most; e++ {
		list = append(list, math.Pow(s.base, e))
	}
	return list
}

// bars draws a panel with a bar for each system, its length the logarithm of the median.
// A thin line extends from the minimum to the maximum.
func bars(b *bytes.Buffer, r Results, row Row, col Column, y int) int {
	var names []string
	var all []Spread
	var ends []float64
	for _, c := range row.Contestants {
		if s, ok := r.of(row.Name, c.Name, 0, col.Figure); ok && s.Min > 0 {
			names, all, ends = append(names, c.Name), append(all, s), append(ends, s.Min, s.Max)
		}
	}
	if len(all) == 0 {
		return y
	}
	sc := scaleOf(col.Kind, ends)
	sc.least -= 0.2 // so that the shortest bar is visible
	x := func(v float64) float64 { return labels + plot*sc.at(v) }
	text(b, 8, float64(y+16), "start", ` font-weight="bold"`, row.Title+": "+col.Title+" (logarithmic)")
	y += panel - 8
	bottom := y + line*len(all)
	for _, t := range sc.ticks() {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>`+"\n", x(t), y, x(t), bottom+4)
		text(b, x(t), float64(bottom+16), "middle", ` fill="#666" font-size="10"`, col.Kind.write(t))
	}
	for i, s := range all {
		colour := others
		if strings.HasPrefix(strings.ToLower(names[i]), "larder") {
			colour = ours
		}
		middle := float64(y + i*line + line/2)
		text(b, labels-6, middle+4, "end", "", names[i])
		fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", labels, middle-6, x(s.Median)-labels, 12, colour)
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#222"/>`+"\n", x(s.Min), middle, x(s.Max), middle)
		text(b, max(x(s.Median), x(s.Max))+5, middle+4, "start", ` font-size="11"`, col.Kind.write(s.Median))
	}
	return bottom + panel
}

// curves draws a panel with a line for each system, both axes logarithmic.
func curves(b *bytes.Buffer, r Results, row Row, col Column, y int) int {
	const height, left = 200, 80
	var xs, ys []float64
	for _, c := range row.Contestants {
		x, v := points(r, row, c.Name, col)
		xs, ys = append(xs, x...), append(ys, v...)
	}
	if len(ys) == 0 {
		return y
	}
	across, up := scaleOf(Count, xs), scaleOf(col.Kind, ys)
	const width = labels + plot - left - 110
	text(b, 8, float64(y+16), "start", ` font-weight="bold"`, row.Title+": "+col.Title+" (both axes logarithmic)")
	y += panel - 4
	x := func(v float64) float64 { return left + width*across.at(v) }
	h := func(v float64) float64 { return float64(y) + height*(1-up.at(v)) }
	for _, t := range across.ticks() {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>`+"\n", x(t), y, x(t), y+height)
		text(b, x(t), float64(y+height+14), "middle", ` fill="#666" font-size="10"`, grouped(int(t)))
	}
	for _, t := range up.ticks() {
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>`+"\n", left, h(t), left+width, h(t))
		text(b, left-6, h(t)+4, "end", ` fill="#666" font-size="10"`, col.Kind.write(t))
	}
	for i, c := range row.Contestants {
		px, py := points(r, row, c.Name, col)
		if len(px) == 0 {
			continue
		}
		colour := lines[i%len(lines)]
		var path []string
		for k := range px {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x(px[k]), h(py[k])))
			if s, ok := r.of(row.Name, c.Name, int(px[k]), col.Figure); ok && s.Min > 0 {
				fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x(px[k]), h(s.Min), x(px[k]), h(s.Max), colour)
			}
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(px[k]), h(py[k]), colour)
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(path, " "), colour)
		label := c.Name
		if len(px) > 2 {
			label += ", n^" + power(exponent(px, py))
		}
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/>`+"\n", left+width+12, y+i*18, colour)
		text(b, left+width+26, float64(y+i*18+9), "start", ` font-size="10"`, label)
	}
	return y + height + panel
}
