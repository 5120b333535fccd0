package simulate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestPipewinesBenchmark compares hit rates with measurements of other code: 26 items, 26
// 000 calls, a cache of 5. For random patterns they are means over seeds, with a tolerance
// in points.
func TestPipewinesBenchmark(t *testing.T) {
	for _, c := range []struct {
		pattern                   string
		slack                     float64
		fifo, lifo, lru, mru, opt float64
	}{
		{"cyclic", 0.06, 0.0, 15.4, 0.0, 16.0, 19.2},
		{"back-and-forth", 0.06, 17.6, 17.6, 17.6, 17.6, 19.6},
		{"hot-element", 0.06, 42.3, 57.7, 51.9, 19.2, 59.6},
		{"blocks", 0.06, 75.0, 78.8, 75.0, 79.0, 79.0},
		{"sliding-window", 0.06, 75.0, 17.3, 75.0, 56.2, 77.2},
		{"uniform", 1, 20.0, 20.1, 20.1, 20.1, 48.3},
		{"zipfian", 6, 78.3, 84.0, 83.6, 49.8, 90.8},
		{"random-walk", 1.5, 58.6, 44.8, 58.7, 44.2, 64.9},
	} {
		p, err := Named(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := p.Trace(26, 26_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		for policy, want := range map[string]float64{"fifo": c.fifo, "lifo": c.lifo, "lru": c.lru, "mru": c.mru, Opt: c.opt} {
			r, err := Run(c.pattern, policy, 5, trace)
			if err != nil {
				t.Fatal(err)
			}
			if got := 100 * r.HitRate; got < want-c.slack || got > want+c.slack {
				t.Errorf("%s, %s: %.2f %%, want %.1f", c.pattern, policy, got, want)
			}
		}
	}
}

// TestOptIsNeverBeaten compares all policies on all patterns.
func TestOptIsNeverBeaten(t *testing.T) {
	for _, p := range Patterns() {
		trace, err := p.Trace(40, 4000, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(trace) != 4000 || slices.Min(trace) < 0 || slices.Max(trace) >= 40 {
			t.Errorf("%s: %d accesses, from %d to %d", p.Name, len(trace), slices.Min(trace), slices.Max(trace))
		}
		again, err := p.Trace(40, 4000, 3)
		if err != nil || !slices.Equal(trace, again) {
			t.Errorf("%s: one seed gives two traces, error %v", p.Name, err)
		}
		opt, err := Run(p.Name, Opt, 7, trace)
		if err != nil {
			t.Fatal(err)
		}
		for _, policy := range Policies() {
			if policy == "memo" {
				continue // unbounded
			}
			r, err := Run(p.Name, policy, 7, trace)
			if err != nil {
				t.Fatal(err)
			}
			if r.Hits > opt.Hits || r.Calls != 4000 {
				t.Errorf("%s: %s has %d hits of %d, opt %d", p.Name, policy, r.Hits, r.Calls, opt.Hits)
			}
		}
	}
}

func TestReadTrace(t *testing.T) {
	got, err := ReadTrace(strings.NewReader("3\n 1 \n\n2"))
	if err != nil || !slices.Equal(got, []int{3, 1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, says := range map[string]string{"1\nx\n": "line 2", "-1": "line 1", "1.5": "line 1", "99999999999999999999": "line 1"} {
		if _, err := ReadTrace(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %v", text, err)
		}
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add("1\n2\n")
	f.Add("\r\n7")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadTrace(strings.NewReader(text))
		if err == nil && len(trace) > 0 && slices.Min(trace) < 0 {
			t.Errorf("%q gives %v", text, trace)
		}
	})
}

func TestRefused(t *testing.T) {
	if _, err := Named("cyclick"); err == nil {
		t.Error("an unknown pattern was found")
	}
	if _, err := Run("x", "lur", 5, nil); err == nil {
		t.Error("an unknown policy was found")
	}
	if _, err := Run("x", "lru", 0, nil); err == nil {
		t.Error("a cache without space was created")
	}
	p, err := Named("cyclic")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Trace(1, 10, 0); err == nil {
		t.Error("a pattern of one item was made")
	}
}

func TestChartIsXML(t *testing.T) {
	results := []Result{
		{Pattern: "<a>", Policy: "lru", HitRate: 0.5}, {Pattern: "<a>", Policy: "x&y", HitRate: 1},
		{Pattern: "b", Policy: "lru"}, {Pattern: "b", Policy: "x&y", HitRate: 0.25},
	}
	var b bytes.Buffer
	if err := WriteChart(&b, results); err != nil {
		t.Fatal(err)
	}
	bars := 0
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "title" {
			bars++
		}
	}
	if bars != len(results) {
		t.Errorf("%d bars for %d results", bars, len(results))
	}
}

// TestSimulationsRepeat checks that a trace and a seed give the same hits each time, for
// every policy.
func TestSimulationsRepeat(t *testing.T) {
	for _, p := range Patterns() {
		trace, err := p.Trace(300, 5000, 1)
		again, err2 := p.Trace(300, 5000, 1)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		for _, policy := range Policies() {
			a, err := Run(p.Name, policy, 40, trace)
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := Run(p.Name, policy, 40, again); a != b {
				t.Errorf("%+v, then %+v", a, b)
			}
		}
	}
}
