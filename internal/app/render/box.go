package render

import (
	"cmp"
	"fmt"
	"math"
)

// width returns the minimum width of a node's box, with strings shortened as they
// are drawn.
func (d *Drawing) width(n int) int {
	node := d.nodes[n]
	w := max(
		width(fit(clean(node.Name), nameSize, maxText), nameSize),
		width(fit(clean(node.Component.Name), smallSize, maxText), smallSize),
		badgesWidth(node.badges()),
	)
	if node.report != nil {
		samples, hits := node.counted()
		w = max(w, width(samples, smallSize)+width(hits, smallSize)+padding, sharesWidth(node.shares()))
	}
	return max(leastWidth, (w+1)&^1+2*padding)
}

// height returns the minimum height of a node's box.
func (d *Drawing) height(n int) int {
	var ins int
	outs := map[string]bool{}
	for _, e := range d.edges {
		if e.to == n {
			ins++
		}
		if e.from == n {
			outs[e.output] = true
		}
	}
	h := boxHeight
	if d.report != nil {
		h += panelHeight
	}
	return max(h, max(ins, len(outs))*socketGap+padding)
}

// share is a part of a node's samples: computed, failed, or found in one of the
// places.
type share struct {
	color color
	word  string
	n     int64
}

// shares returns the shares that are not empty.
func (n node) shares() (all []share) {
	if n.report == nil {
		return nil
	}
	for _, s := range []share{
		{failed, "failed", n.report.Failed},
		{computed, "computed", n.report.Computed},
		{memory, "memory", n.report.FromMemory},
		{store, "store", n.report.FromStore},
	} {
		if s.n > 0 {
			all = append(all, s)
		}
	}
	return all
}

func (s share) text() string { return short(s.n) + " " + s.word }

// sharesWidth returns the width of the labels of shares, each with a dot.
func sharesWidth(all []share) (w int) {
	for _, s := range all {
		w += dotWidth + width(s.text(), smallSize)
	}
	return w
}

const dotWidth = 14

// counted returns the number of output samples, and the share of reads without a
// computation; hits is "" if there was none.
func (n node) counted() (samples, hits string) {
	r := n.report
	got := float64(max(r.FromMemory, r.MemoryReads, 0)) + float64(max(r.FromStore, r.StoreReads, 0))
	if all := got + float64(max(n.report.Computed, 0)); all > 0 {
		hits = fmt.Sprintf("%.0f%% hits", math.Floor(100*got/all))
	}
	return plural(n.report.Samples, "sample"), hits
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return short(n) + " " + word + "s"
}

// short formats a number with at most three significant digits.
func short(n int64) string {
	f := float64(n)
	for _, unit := range []string{"", "k", "M", "G", "T", "P"} {
		if math.Abs(f) < 999.5 {
			if unit == "" {
				return fmt.Sprint(n)
			}
			return fmt.Sprintf("%.3g%s", f, unit)
		}
		f /= 1000
	}
	return fmt.Sprintf("%.3gE", f)
}

// badge marks the caching of a node.
type badge struct {
	icon icon
	text string // "" for none
}

func (n node) badges() (all []badge) {
	if n.pinned() {
		b := badge{icon: pin}
		if n.Options.Auto {
			b.text = "auto"
		}
		all = append(all, b)
	}
	if n.stored() {
		all = append(all, badge{icon: disk})
	}
	if n.cached() {
		all = append(all, badge{icon: chip, text: fit(clean(cmp.Or(n.Options.Cache.Policy, "cache")), badgeText, maxLabel)})
	}
	return all
}

const (
	badgeHeight = 20
	badgeText   = 11 // font size
	iconSize    = 12
)

func (b badge) width() int {
	w := iconSize + 10
	if b.text != "" {
		w += width(b.text, badgeText) + 4
	}
	return w
}

func badgesWidth(all []badge) (w int) {
	for _, b := range all {
		w += b.width() + 4
	}
	return w
}
