package simulate

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"slices"
)

// Sizes in the chart, in SVG units.
const (
	barWidth = 13
	barGap   = 2
	groupGap = 30
	plotTop  = 70
	plotHigh = 180
	plotLeft = 52
	rowHigh  = plotHigh + 46 // with the names of patterns
	perRow   = 4             // patterns
)

// colours of the policies, distinguishable with colour blindness (Okabe and Ito)
// and then by shade.
var colours = []string{
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
	"#f0e442", "#7f7f7f", "#8c564b", "#1b4965", "#a7c957", "#111111",
}

// WriteChart draws results as an SVG bar chart: a group for each pattern, four in a
// row, and a bar for each policy, in the order of results.
func WriteChart(w io.Writer, results []Result) error {
	patterns, policies := names(results)
	groupWidth := len(policies)*(barWidth+barGap) + groupGap
	rows := (len(patterns) + perRow - 1) / perRow
	width := max(620, plotLeft+min(len(patterns), perRow)*groupWidth+20)
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12" fill="#222">`+"\n", width, plotTop+rows*rowHigh)
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	fmt.Fprintf(b, `<text x="%d" y="24" font-size="16" font-weight="600">Hits of eviction policies</text>`+"\n", plotLeft)
	writeLegend(b, policies)
	for row := range rows {
		writeGrid(b, plotTop+row*rowHigh, width)
	}
	for _, r := range results {
		g, p := slices.Index(patterns, r.Pattern), slices.Index(policies, r.Policy)
		x := plotLeft + g%perRow*groupWidth + groupGap/2 + p*(barWidth+barGap)
		high := r.HitRate * plotHigh
		fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" rx="1.5" fill="%s"><title>%s, %s: %.1f %%</title></rect>`+"\n",
			x, float64(plotTop+g/perRow*rowHigh+plotHigh)-high, barWidth, high, colour(p), html.EscapeString(r.Pattern), html.EscapeString(r.Policy), 100*r.HitRate)
	}
	for g, name := range patterns {
		x := plotLeft + g%perRow*groupWidth + groupWidth/2
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", x, plotTop+g/perRow*rowHigh+plotHigh+20, html.EscapeString(name))
	}
	fmt.Fprintln(b, "</svg>")
	return b.Flush()
}

func colour(i int) string { return colours[i%len(colours)] }

// names lists the patterns and the policies, each once, in the order of results.
func names(results []Result) (patterns, policies []string) {
	for _, r := range results {
		if !slices.Contains(patterns, r.Pattern) {
			patterns = append(patterns, r.Pattern)
		}
		if !slices.Contains(policies, r.Policy) {
			policies = append(policies, r.Policy)
		}
	}
	return patterns, policies
}

func writeLegend(w io.Writer, policies []string) {
	x := plotLeft
	for i, name := range policies {
		fmt.Fprintf(w, `<rect x="%d" y="38" width="11" height="11" rx="2" fill="%s"/><text x="%d" y="48">%s</text>`+"\n", x, colour(i), x+15, html.EscapeString(name))
		x += 30 + 7*len(name)
	}
}

func writeGrid(w io.Writer, top, width int) {
	for percent := 0; percent <= 100; percent += 20 {
		y := top + plotHigh - percent*plotHigh/100
		fmt.Fprintf(w, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="end" fill="#666">%d %%</text>`+"\n",
			plotLeft, width-10, y, y, plotLeft-6, y+4, percent)
	}
}
