package cli

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/flow"
)

const trackedFlow = `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, checkpoint: true}
  small: {map: image-resize, from: stats, with: {width: 8}}
  many: {op: repeat, from: small, with: {times: 100}}
  colors: {op: group-by, from: many, with: {by: metadata.color}}
  out: {sink: underfolder, from: colors, with: {path: out}}
  table: {sink: underfolder, from: stats, with: {path: table}}
  aside: {op: reverse, from: letters}
`

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func parsed(t *testing.T, content string) *flow.Flow {
	t.Helper()
	f, err := flow.Parse("/flows/letters/flow.yaml", []byte(content), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func testTracker(t *testing.T, only ...string) *tracker {
	t.Helper()
	return newTracker(parsed(t, trackedFlow), only, "/home/ada/.cache/larder", epoch)
}

func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

func (t *tracker) started(seconds float64, nodes ...string) {
	for _, n := range nodes {
		t.observe(flow.Event{Time: at(seconds), Event: flow.NodeStarted, Node: n})
	}
}

// progress reports, for a node, the samples done, the total, and those computed, from
// memory and from the store.
func (t *tracker) progress(seconds float64, node string, n ...int64) {
	n = append(n, make([]int64, 5)...)
	t.observe(flow.Event{
		Time: at(seconds), Event: flow.NodeProgress, Node: node,
		Done: n[0], Total: n[1], Computed: n[2], FromMemory: n[3], FromStore: n[4],
	})
}

// whileStats and the functions below set the tracker to moments of a run.
func whileStats(t *tracker) {
	t.started(0, "letters", "stats")
	t.progress(1, "stats", 0, 26000)
	t.progress(10, "stats", 6500, 26000, 500, 0, 6000)
}

func whileColors(t *tracker) {
	whileStats(t)
	t.progress(20, "stats", 26000, 26000, 20000, 0, 6000)
	t.started(20, "small", "many", "colors", "table")
	t.progress(21, "small", 1234, 0, 1200, 34)
	t.progress(21, "table", 13, 26000)
	t.progress(22, "table", 14, 26000)
	t.note("larder: warning: an item is both shared and a sample's own (item a)")
}

func whileOut(t *tracker) {
	whileColors(t)
	t.progress(30, "table", 26000, 26000)
	t.started(30, "out")
	t.progress(31, "out", 1000, 2600000)
	t.observe(flow.Event{Time: at(31), Event: flow.RunError, Node: "out", Done: 1000, Total: 2600000, Message: "node out: no space\nleft on \x1b[31mdevice"})
}

func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name          string
		only          []string
		feed          func(*tracker)
		seconds       float64
		width, height int
		want          string
	}{
		{"nothing yet, some nodes", []string{"small", "aside"}, func(*tracker) {}, 0, 90, 20, `
letters  0 of 4 nodes done  0s  cache /home/ada/.cache/larder
node     state                          samples      rate    left  computed  memory  store
letters  waiting                              .         .       .         .       .      .
stats    waiting                              .         .       .         .       .      .
small    waiting                              .         .       .         .       .      .
aside    waiting                              .         .       .         .       .      .
`},
		{"a checkpoint", nil, whileStats, 13, 100, 20, `
letters  0 of 7 nodes done  13s  cache /home/ada/.cache/larder
node     state                                    samples      rate    left  computed  memory  store
letters  running                                        .         .       .         .       .      .
stats    running  [======                   ]  6500/26000     500/s     39s       500       .   6000
small    waiting                                        .         .       .         .       .      .
many     waiting                                        .         .       .         .       .      .
colors   waiting                                        .         .       .         .       .      .
out      waiting                                        .         .       .         .       .      .
table    waiting                                        .         .       .         .       .      .
`},
		{"two nodes and a warning", nil, whileColors, 30, 100, 20, `
letters  2 of 7 nodes done  30s  cache /home/ada/.cache/larder
node     state                                    samples      rate    left  computed  memory  store
letters  done                                           .         .       .         .       .      .
stats    done     [========================]  26000/26000         .       .     20000       .   6000
small    running                                     1234     123/s       .      1200      34      .
many     passing                                        .         .       .         .       .      .
colors   running                                        .         .       .         .       .      .
out      waiting                                        .         .       .         .       .      .
table    running  [                        ]     14/26000     1.4/s    5h9m         .       .      .

larder: warning: an item is both shared and a sample's own (item a)
`},
		{"failed", nil, whileOut, 31, 100, 20, `
letters  3 of 7 nodes done  31s  cache /home/ada/.cache/larder
node     state                                    samples      rate    left  computed  memory  store
letters  done                                           .         .       .         .       .      .
stats    done     [=======================]   26000/26000         .       .     20000       .   6000
small    waiting                                     1234         .       .      1200      34      .
many     waiting                                        .         .       .         .       .      .
colors   waiting                                        .         .       .         .       .      .
out      failed   [                       ]  1000/2600000         .       .         .       .      .
table    done     [=======================]   26000/26000         .       .         .       .      .

larder: warning: an item is both shared and a sample's own (item a)
node out: no space
left on ?[31mdevice
`},
		{"few rows", nil, whileColors, 30, 60, 6, `
letters  2 of 7 nodes done  30s  cache …me/ada/.cache/larder
node    state                      samples      rate    left
small   running                       1234     123/s       .
colors  running                          .         .       .
table   running  [             ]  14/26000     1.4/s    5h9m
and 1 passing, 1 waiting, 2 done
`},
		{"long", nil, whileColors, 3600, 60, 20, `
letters  2 of 7 nodes done  1h0m  cache …e/ada/.cache/larder
node     state                     samples      rate    left
letters  done                            .         .       .
stats    done     [=========]  26000/26000         .       .
small    running                      1234  20.7/min       .
many     passing                         .         .       .
colors   running                         .         .       .
out      waiting                         .         .       .
table    running  [         ]     14/26000    14.1/h    long

larder: warning: an item is both shared and a sample's own …
`},
		{"narrow", nil, whileColors, 30, 30, 12, `
letters  2 of 7 nodes done  3…
node     state        samples
letters  done               .
stats    done     26000/26000
small    running         1234
many     passing            .
colors   running            .
out      waiting            .
table    running     14/26000

larder: warning: an item is b…
`},
		{"very narrow", nil, whileColors, 30, 9, 12, `
letters …
node
letters
stats
small
many
colors
out
table

larder: …
`},
		{"one row", nil, whileColors, 30, 60, 1, `
letters  2 of 7 nodes done  30s  cache …me/ada/.cache/larder
`},
		{"nothing at all", nil, whileColors, 30, 60, 0, `

`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := testTracker(t, c.only...)
			c.feed(tr)
			got := "\n" + strings.Join(tr.lines(at(c.seconds), c.width, c.height, false), "\n") + "\n"
			if got != c.want {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestLinesFit draws runs of any flow at any size.
func TestLinesFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("abc字e\u0301ｗ한👍\t\x1b\u202e")
	text := func() string {
		r := make([]rune, rng.IntN(30))
		for i := range r {
			r[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(r)
	}
	colors := regexp.MustCompile("\x1b\\[[0-9]+m")
	for range 2000 {
		tr := &tracker{flow: text(), cache: "/" + text(), start: epoch}
		for range rng.IntN(20) {
			n := &tracked{name: text()}
			tr.nodes = append(tr.nodes, n)
			n.started, n.failed, n.ended = rng.IntN(2) == 0, rng.IntN(5) == 0, rng.IntN(2) == 0
			n.last.Total = rng.Int64N(1 << rng.IntN(60))
			n.last.Done = rng.Int64N(n.last.Total + 1)
			n.marks = []mark{{epoch, 0}, {at(1), n.last.Done}}
		}
		for range rng.IntN(10) {
			tr.note(text())
		}
		width, height := rng.IntN(130), rng.IntN(30)
		lines := tr.lines(at(2), width, height, true)
		if len(lines) > height {
			t.Errorf("%d lines for %d rows", len(lines), height)
		}
		for _, l := range lines {
			if l = colors.ReplaceAllString(l, ""); textWidth(l) > width || l != printable(l) {
				t.Fatalf("width %d: %q takes %d", width, l, textWidth(l))
			}
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text        string
		width       int
		back, front string
	}{
		{"letters", 7, "letters", "letters"},
		{"letters", 6, "lette…", "…tters"},
		{"letters", 1, "…", "…"},
		{"letters", 0, "", ""},
		{"文字列", 6, "文字列", "文字列"},
		{"文字列", 5, "文字…", "…字列"},
		{"文字列", 4, "文…", "… 列"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", "…e\u0301"},
	} {
		if got := cut(c.text, c.width); got != c.back {
			t.Errorf("cut(%q, %d) is %q, want %q", c.text, c.width, got, c.back)
		}
		if got := strings.Replace(cutFront(c.text, c.width), "…\u0301", "…", 1); got != c.front {
			t.Errorf("cutFront(%q, %d) is %q, want %q", c.text, c.width, got, c.front)
		}
	}
}

// TestManyPaths draws a flow with too many paths from the first node to the last to count.
func TestManyPaths(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nnodes:\n  n0: {source: underfolder, with: {path: data}}\n")
	const joins = 100
	for i := range joins {
		fmt.Fprintf(&b, "  n%d: {op: cat, from: [n%d, n%d]}\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "  out: {sink: underfolder, from: n%d, with: {path: out}}\n", joins)
	tr := newTracker(parsed(t, b.String()), nil, "", epoch)
	for _, n := range tr.nodes {
		tr.started(0, n.name)
	}
	tr.progress(1, "out", 1, 2)
	for _, l := range tr.lines(at(1), 80, joins+4, false)[2:] {
		if want := ifElse(strings.HasPrefix(l, "n0 ") || strings.HasPrefix(l, "out "), "running", "passing"); !strings.Contains(l, want) {
			t.Errorf("it is %s: %s", want, l)
		}
	}
}

// lockedTerminal counts the writes to a terminal.
type lockedTerminal struct {
	mu     sync.Mutex
	t      *terminal
	writes int
	bytes  int
}

func (l *lockedTerminal) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	l.bytes += len(p)
	return l.t.Write(p)
}

func (l *lockedTerminal) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t.lines()
}

func (l *lockedTerminal) size() (int, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t.width, l.t.height
}

func onTerminal(ctx context.Context, tr *tracker, width, height int) (*screen, *lockedTerminal) {
	l := &lockedTerminal{t: newTerminal(width, height)}
	fmt.Fprint(l, "$ larder run\n")
	s := &screen{w: l, tracker: tr, color: true, size: l.size}
	s.open(ctx)
	return s, l
}

// TestScreen checks that partial drawings add up to whole ones.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := testTracker(t)
		tr.start = time.Now()
		s, l := onTerminal(t.Context(), tr, 80, 12)
		total := int64(1000)
		for i := range total {
			<-time.After(time.Millisecond)
			s.observe(flow.Event{Time: time.Now(), Event: flow.NodeStarted, Node: "stats", Done: i, Total: total})
			if i%400 == 0 {
				fmt.Fprintf(s.log(), "level=WARN msg=%d\n", i)
			}
			if i%97 == 0 {
				<-time.After(redrawInterval - time.Since(tr.start)%redrawInterval)
				synctest.Wait()
				s.mu.Lock()
				want := tr.lines(time.Now(), 80, 12, false)
				s.mu.Unlock()
				if got := l.lines(); !slices.Equal(got, want) {
					t.Fatalf("the screen shows\n%s\nand should show\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
		took := time.Since(tr.start)
		if most := int(took/redrawInterval) + 3; l.writes > most {
			t.Errorf("%d drawings in %v", l.writes, took)
		}
		if l.bytes > l.writes*300 { // two lines of twelve change
			t.Errorf("%d bytes in %d drawings", l.bytes, l.writes)
		}
		s.close()
		s.close()
		fmt.Fprintln(s.log(), "level=WARN msg=late")
		want := []string{"$ larder run", "level=WARN msg=0", "level=WARN msg=400", "level=WARN msg=800", "level=WARN msg=late"}
		if got := l.lines(); !slices.Equal(got, want) || l.t.onOther || l.t.hidden || l.t.cutting {
			t.Errorf("afterwards %+v:\n%s", l.t, strings.Join(got, "\n"))
		}
		if l.t.unknown != nil {
			t.Errorf("a terminal need not know %q", l.t.unknown)
		}
	})
}

func TestScreenOfAnotherSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := testTracker(t)
		s, l := onTerminal(t.Context(), tr, 100, 20)
		for _, size := range [][2]int{{40, 5}, {3, 2}, {100, 30}} {
			l.mu.Lock()
			l.t.width, l.t.height = size[0], size[1]
			l.t.other = grid{cells: l.t.blank()}
			l.t.put('?') // a terminal may have any content
			l.mu.Unlock()
			<-time.After(redrawInterval)
			synctest.Wait()
			s.mu.Lock()
			want := tr.lines(time.Now(), size[0], size[1], false)
			s.mu.Unlock()
			if got := l.lines(); !slices.Equal(got, want) {
				t.Errorf("at %v the screen shows\n%s", size, strings.Join(got, "\n"))
			}
		}
		s.close()
	})
}

// TestScreenEndsWithTheContext checks that the first Ctrl-C restores the terminal, because
// the second one ends the program immediately.
func TestScreenEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, l := onTerminal(ctx, testTracker(t), 80, 12)
		synctest.Wait()
		if !l.t.onOther || !l.t.hidden {
			t.Fatal("the other screen is not shown")
		}
		cancel()
		synctest.Wait()
		if l.t.onOther || l.t.hidden {
			t.Error("the terminal was not given back")
		}
		s.close()
	})
}

func TestManyWarnings(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b, tracker: testTracker(t), size: func() (int, int) { return 80, 24 }}
	s.open(t.Context())
	for i := range 1000 {
		fmt.Fprintf(s.log(), "warning %d\n", i)
	}
	s.close()
	_, after, _ := strings.Cut(b.String(), leaveScreen)
	if !strings.HasPrefix(after, "(900 earlier warnings omitted)\nwarning 900\n") || strings.Count(after, "\n") != 101 {
		t.Errorf("afterwards: %s", after)
	}
}

// TestPassing checks that a node that computes none of its samples does not count as
// running.
func TestPassing(t *testing.T) {
	tr := newTracker(parsed(t, `
version: 1
nodes:
  in: {source: underfolder, with: {path: data}}
  part: {op: slice, from: in, with: {stop: 5}}
  bare: {map: keep-keys, from: part, with: {keys: [metadata]}}
  some: {op: map-if, from: bare, with: {range: "::2", step: {map: hash, with: {items: [metadata]}}}}
  sorted: {op: sort, from: some, with: {by: metadata.letter}}
  out: {sink: underfolder, from: sorted, with: {path: out}}
`), nil, "", epoch)
	phases := func() string {
		tr.judge()
		var all []string
		for _, n := range tr.nodes {
			all = append(all, n.phase.String())
		}
		return strings.Join(all, " ")
	}
	for i, step := range []struct {
		feed func()
		want string
	}{
		{func() { tr.started(0, "in", "part", "bare") }, "waiting waiting waiting waiting waiting waiting"},
		{func() { tr.started(1, "some", "sorted") }, "running passing passing running running waiting"},
		{func() { tr.progress(2, "sorted", 2, 5) }, "running passing passing running running waiting"},
		{func() { tr.progress(3, "sorted", 5, 5); tr.started(3, "out") }, "running passing passing running passing running"},
		{func() { tr.progress(4, "out", 5, 5) }, "done done done done done done"},
	} {
		if step.feed(); phases() != step.want {
			t.Errorf("step %d: %s, want %s", i, phases(), step.want)
		}
	}
}
