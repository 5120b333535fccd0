package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"

	_ "github.com/larder-data/larder/mapper"
)

// The kinds of nodes in generated flows.
var (
	read   = &component.Component{Kind: component.Source, Name: "read"}
	repeat = &component.Component{Kind: component.Op, Name: "repeat"}
	split  = &component.Component{Kind: component.Op, Name: "split", Outs: true}
	cat    = &component.Component{Kind: component.Op, Name: "cat", Many: true}
	write  = &component.Component{Kind: component.Sink, Name: "write"}
)

// rename is a mapper, which flows try out.
func rename() (*component.Component, any) {
	c, err := component.Find(component.Map, "rename")
	if err != nil {
		panic(err)
	}
	return c, reflect.New(c.Type).Elem().Interface()
}

// generate makes a flow of n nodes; pick chooses from [0, n).
func generate(n int, pick func(n int) int) *flow.Flow {
	var nodes []*flow.Node
	var readable []*flow.Node // all but sinks
	several := map[string]bool{}
	input := func() flow.Input {
		// Mostly recent nodes, sometimes any earlier one.
		from := readable[max(0, len(readable)-1-pick(min(len(readable), 6)))]
		if pick(6) == 0 {
			from = readable[pick(len(readable))]
		}
		in := flow.Input{Node: from.Name}
		if from.Component.Outs && pick(3) > 0 {
			in.Output = []string{"train", "test", "a longer name of an output"}[pick(3)]
		}
		return in
	}
	for i := range n {
		node := &flow.Node{Name: fmt.Sprint("n", i) + strings.Repeat("_long", pick(4)*pick(4)), Component: read}
		if len(readable) > 0 && pick(8) > 0 {
			inputs := 1
			switch pick(6) {
			case 0:
				node.Component = repeat
			case 1, 2:
				node.Component, node.Params = rename()
			case 3:
				node.Component = split
			case 4:
				node.Component, inputs = cat, 1+pick(4)
			case 5:
				node.Component = write
			}
			for range inputs {
				in := input()
				if node.Component == split && several[in.Node] && in.Output == "" {
					in.Output = "train" // it accepts one dataset
				}
				node.From = append(node.From, in)
				several[node.Name] = several[node.Name] || several[in.Node] && in.Output == "" && node.Component != cat
			}
			several[node.Name] = several[node.Name] || node.Component.Outs
		}
		node.Options = flow.Options{Keep: pick(4) == 0, Checkpoint: pick(5) == 0 && node.Component != write}
		nodes = append(nodes, node)
		if node.Component != write {
			readable = append(readable, node)
		}
	}
	for i := range nodes { // files may name readers first
		if j := i + pick(min(3, n-i)); pick(3) == 0 {
			nodes[i], nodes[j] = nodes[j], nodes[i]
		}
	}
	f, err := flow.New("generated", "", nodes...)
	if err != nil {
		panic(err)
	}
	return f
}

func generated(t *rapid.T) *flow.Flow {
	draws := rapid.IntRange(0, 1<<16)
	return generate(rapid.IntRange(1, 40).Draw(t, "nodes"), func(n int) int { return draws.Draw(t, "pick") % n })
}

// reported invents a report of some of the nodes.
func reported(f *flow.Flow) *flow.Report {
	r := &flow.Report{Flow: f.Name, Status: flow.OK}
	for i, n := range f.Nodes {
		if i%4 > 0 {
			r.Nodes = append(r.Nodes, flow.NodeReport{Name: n.Name, Samples: 1000, Computed: int64(i), FromStore: int64(10 * i), Failed: int64(i % 3)})
		}
	}
	return r
}

func TestPictures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := generated(t)
		var o Options
		if rapid.Bool().Draw(t, "with a report") {
			o.Report = reported(f)
		}
		d := Of(f, o)
		p := d.picture()
		checkBoxes(t, p)
		checkLines(t, d, p)
		checkLabels(t, p)
		checkNumbers(t, d, p)
		checkSVG(t, f, d)
		again := Of(f, o)
		for range 3 {
			for i, write := range []func(*Drawing) []byte{svgOf, dotOf, mermaidOf} {
				if !bytes.Equal(write(d), write(again)) {
					t.Fatalf("format %d differs when it is written again", i)
				}
			}
		}
	})
}

func svgOf(d *Drawing) []byte {
	var b bytes.Buffer
	_ = d.SVG(&b) // a Buffer accepts everything
	return b.Bytes()
}

func dotOf(d *Drawing) []byte {
	var b bytes.Buffer
	_ = d.DOT(&b)
	return b.Bytes()
}

func mermaidOf(d *Drawing) []byte {
	var b bytes.Buffer
	_ = d.Mermaid(&b)
	return b.Bytes()
}

// overlaps reports whether boxes are closer than that.
func (b box) overlaps(c box, gap int) bool {
	return b.x < c.x+c.w+gap && c.x < b.x+b.w+gap && b.y < c.y+c.h+gap && c.y < b.y+b.h+gap
}

func checkBoxes(t *rapid.T, p *picture) {
	for i, b := range p.boxes {
		if b.x < 0 || b.y < 0 || b.x+b.w > p.width || b.y+b.h > p.height || b.w < leastWidth || b.h < boxHeight {
			t.Fatalf("box %d is at %v in a picture of %d x %d", i, b, p.width, p.height)
		}
		for j, c := range p.boxes[:i] {
			if b.overlaps(c, nodeGap) {
				t.Fatalf("boxes %d and %d are too close: %v, %v", j, i, c, b)
			}
		}
	}
}

// checkLines checks that lines lead forward, from one box to another, and through none.
func checkLines(t *rapid.T, d *Drawing, p *picture) {
	starts, ends := map[point]socket{}, map[point]int{}
	for i, l := range p.lines {
		e := d.edges[i]
		from, to := p.boxes[e.from], p.boxes[e.to]
		if l.start.x != from.x+from.w || l.start.y < from.y || l.start.y > from.y+from.h {
			t.Fatalf("edge %d starts at %v, not at the right of %v", i, l.start, from)
		}
		if l.end.x != to.x || l.end.y < to.y || l.end.y > to.y+to.h {
			t.Fatalf("edge %d ends at %v, not at the left of %v", i, l.end, to)
		}
		if s, ok := starts[l.start]; ok && s != e.socket() {
			t.Fatalf("outputs %v and %v share a socket", s, e.socket())
		}
		if j, ok := ends[l.end]; ok {
			t.Fatalf("edges %d and %d end at the same socket", j, i)
		}
		starts[l.start], ends[l.end] = e.socket(), i
		at := l.start
		for _, b := range append(slices.Clone(l.bends), bend{l.end, l.end}) {
			if b.from.x < at.x || b.from.y != at.y || b.to.x < b.from.x {
				t.Fatalf("edge %d goes from %v to %v", i, at, b)
			}
			checkFree(t, p, i, at, b.from)
			checkFree(t, p, i, b.from, b.to)
			at = b.to
		}
	}
}

// checkFree checks that no box is between two points.
func checkFree(t *rapid.T, p *picture, i int, a, b point) {
	way := box{a.x, min(a.y, b.y), b.x - a.x, max(a.y, b.y) - min(a.y, b.y)}
	for j, c := range p.boxes {
		if way.overlaps(c, 0) {
			t.Fatalf("edge %d crosses box %d %v between %v and %v", i, j, c, a, b)
		}
	}
}

func checkLabels(t *rapid.T, p *picture) {
	var seen []box
	for _, l := range slices.Concat(p.labels, p.numbers) {
		at := box{l.x, l.y - 9, l.w, 18}
		for _, b := range append(seen, p.boxes...) {
			if at.overlaps(b, 0) {
				t.Fatalf("label %q covers something", l.text)
			}
		}
		seen = append(seen, at)
	}
}

// checkNumbers checks the numbers of inputs: each of several has its number on its edge,
// between the last bend and the arrow. No other edge passes behind it.
func checkNumbers(t *rapid.T, d *Drawing, p *picture) {
	for i, e := range d.edges {
		if !e.numbered {
			continue
		}
		own := p.lines[i]
		j := slices.IndexFunc(p.numbers, func(l label) bool { return l.y == own.end.y && l.x < own.end.x && own.end.x < l.x+l.w+arrowLead })
		if j < 0 || p.numbers[j].text != fmt.Sprint(e.input) {
			t.Fatalf("edge %d ends at %v without the number %d: %v", i, own.end, e.input, p.numbers)
		}
		l := p.numbers[j]
		if length, _ := e.arrow(); l.x+l.w > own.end.x-length || len(own.bends) > 0 && l.x < own.bends[len(own.bends)-1].to.x {
			t.Fatalf("the number %v is on the arrow or a bend of %v", l, own)
		}
		for k, other := range p.lines {
			if k != i && crosses(other, box{l.x, l.y - 8, l.w, 16}) {
				t.Fatalf("edge %d passes behind the number of edge %d", k, i)
			}
		}
	}
}

// crosses reports whether a line enters a box, by its level parts and the boxes around its
// bends.
func crosses(l line, b box) bool {
	at := l.start
	for _, bend := range append(slices.Clone(l.bends), bend{l.end, l.end}) {
		for _, way := range [][2]point{{at, bend.from}, {bend.from, bend.to}} {
			from, to := way[0], way[1]
			if b.overlaps(box{from.x, min(from.y, to.y), to.x - from.x, max(from.y, to.y) - min(from.y, to.y)}, 0) {
				return true
			}
		}
		at = bend.to
	}
	return false
}

// checkSVG checks that every node and edge is in the picture once.
func checkSVG(t *rapid.T, f *flow.Flow, d *Drawing) {
	want := map[string]int{"flow generated": 1}
	for _, n := range f.Nodes {
		want[n.Name+": "+string(n.Component.Kind)+" "+n.Component.Name]++
		for _, in := range n.From {
			want[in.String()+" to "+n.Name]++
		}
	}
	for _, l := range d.picture().labels {
		want[l.text]++
	}
	for _, n := range f.Nodes {
		for i := range n.From {
			if len(n.From) > 1 {
				want[fmt.Sprint("input ", i)]++
			}
		}
	}
	if d.report != nil {
		want["ok in 0 s"]++
	}
	var doc struct {
		Titles []string `xml:"title"`
		Paths  []struct {
			Title string `xml:"title"`
		} `xml:"path"`
		Groups []struct {
			Title string `xml:"title"`
		} `xml:"g"`
	}
	if err := xml.Unmarshal(svgOf(d), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, title := range doc.Titles {
		got[title]++
	}
	for _, path := range doc.Paths {
		if path.Title != "" { // paths of the legend have no title
			got[path.Title]++
		}
	}
	for _, g := range doc.Groups {
		first, _, _ := strings.Cut(g.Title, "\n")
		got[first]++
	}
	if !maps.Equal(got, want) {
		t.Fatalf("the picture has\n%v\nwant\n%v", got, want)
	}
}

func TestSmallestFlows(t *testing.T) {
	one := Of(generate(1, func(int) int { return 0 }), Options{})
	if p := one.picture(); len(p.boxes) != 1 || p.width != leastWidth || p.height != boxHeight {
		t.Errorf("one node: %+v", p)
	}
	none, err := flow.New("empty", "")
	if err != nil {
		t.Fatal(err)
	}
	if b := svgOf(Of(none, Options{})); !bytes.Contains(b, []byte("flow empty")) {
		t.Errorf("no node: %s", b)
	}
	alone := Of(generate(100, func(n int) int { return 0 }), Options{}).picture()
	if alone.width > 2*alone.height*leastWidth/boxHeight {
		t.Errorf("100 nodes alone are %d x %d", alone.width, alone.height)
	}
}

// chain returns a flow in which each of n nodes reads the one before.
func chain(n int) []*flow.Node {
	nodes := []*flow.Node{{Name: "n0", Component: read}}
	for i := 1; i < n; i++ {
		nodes = append(nodes, &flow.Node{Name: fmt.Sprint("n", i), Component: repeat, From: []flow.Input{{Node: fmt.Sprint("n", i-1)}}})
	}
	return nodes
}

// TestLongEdgesAreStraight checks that an edge over many layers goes around them: up or
// down, straight, and back.
func TestLongEdgesAreStraight(t *testing.T) {
	nodes := append(chain(8), &flow.Node{Name: "all", Component: cat, From: []flow.Input{{Node: "n7"}, {Node: "n1"}, {Node: "n1"}}})
	f, err := flow.New("long", "", nodes...)
	if err != nil {
		t.Fatal(err)
	}
	p := Of(f, Options{}).picture()
	for i, l := range p.lines {
		if len(l.bends) > 2 {
			t.Errorf("edge %d has %d bends: %v", i, len(l.bends), l.bends)
		}
	}
	for i, b := range p.boxes[3:8] {
		if b.y != p.boxes[2].y {
			t.Errorf("box %d of the chain is at %d, the one before at %d", i+3, b.y, p.boxes[2].y)
		}
	}
}

// TestNodesStandWhereTheyAreRead checks that nodes that are read late are drawn late, with
// all their dependencies.
func TestNodesStandWhereTheyAreRead(t *testing.T) {
	nodes := append(chain(6),
		&flow.Node{Name: "late", Component: read},
		&flow.Node{Name: "later", Component: repeat, From: []flow.Input{{Node: "late"}}},
		&flow.Node{Name: "both", Component: cat, From: []flow.Input{{Node: "n5"}, {Node: "later"}}},
	)
	f, err := flow.New("late", "", nodes...)
	if err != nil {
		t.Fatal(err)
	}
	d := Of(f, Options{})
	var all []int
	for i := range d.nodes {
		all = append(all, i)
	}
	rank := layerOf(all, d.edges)
	if want := map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 4, 7: 5, 8: 6}; !maps.Equal(rank, want) {
		t.Errorf("layers %v, want %v", rank, want)
	}
}

func TestCrossings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Of(generated(t), Options{})
		for _, part := range d.parts() {
			var edges []edge
			for _, e := range d.edges {
				if slices.Contains(part, e.to) {
					edges = append(edges, e)
				}
			}
			g := newGraph(part, edges, d.height)
			g.depthFirst()
			before := g.crossings()
			if want := countCrossings(g); before != want {
				t.Fatalf("%d crossings, want %d", before, want)
			}
			g.order()
			if after := g.crossings(); after > before {
				t.Fatalf("ordered, there are %d crossings; there were %d", after, before)
			}
		}
	})
}

// countCrossings compares all pairs of segments.
func countCrossings(g *graph) (n int) {
	for _, layer := range g.layers {
		var all []*segment
		for _, v := range layer {
			all = append(all, v.out...)
		}
		for _, s := range all {
			for _, u := range all {
				if s.from.place < u.from.place && s.after(u) {
					n++
				}
			}
		}
	}
	return n
}

// TestTreesDoNotCross checks that a tree has no crossings, in any order of its nodes.
func TestTreesDoNotCross(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := []*flow.Node{{Name: "n0", Component: read}}
		for i := 1; i < rapid.IntRange(2, 30).Draw(t, "nodes"); i++ {
			parent := rapid.IntRange(0, i-1).Draw(t, "parent")
			nodes = append(nodes, &flow.Node{Name: fmt.Sprint("n", i), Component: repeat, From: []flow.Input{{Node: fmt.Sprint("n", parent)}}})
		}
		f, err := flow.New("tree", "", rapid.Permutation(nodes).Draw(t, "order")...)
		if err != nil {
			t.Fatal(err)
		}
		d := Of(f, Options{})
		g := newGraph(d.parts()[0], d.edges, d.height)
		g.order()
		if n := g.crossings(); n != 0 {
			t.Fatalf("%d crossings", n)
		}
	})
}

func BenchmarkSVG(b *testing.B) {
	for _, n := range []int{5, 25, 100, 500} {
		r := rand.New(rand.NewPCG(1, 2))
		d := Of(generate(n, r.IntN), Options{})
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				svgOf(d)
			}
		})
	}
}
