package render

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/component"
)

// TestContrast checks that text and distinct shapes are readable on light and dark pages,
// by the contrast of WCAG 2: 4.5 for text, 3 for shapes.
func TestContrast(t *testing.T) {
	type pair struct {
		over, under color
		least       float64
	}
	pairs := []pair{{ink, paper, 4.5}, {faint, paper, 4.5}, {ink, panel, 4.5}, {faint, panel, 4.5}, {failed, paper, 4.5}, {wire, paper, 3}}
	for _, c := range []color{source, operator, sink} {
		pairs = append(pairs, pair{onFill, c, 4.5}, pair{c, paper, 3})
	}
	for _, c := range []color{computed, memory, store, failed} {
		pairs = append(pairs, pair{c, panel, 3})
	}
	for _, p := range pairs {
		for _, c := range [][2]string{{p.over.light, p.under.light}, {p.over.dark, p.under.dark}} {
			if got := contrast(t, c[0], c[1]); got < p.least {
				t.Errorf("%s %s on %s %s: contrast %.2f, want %v", p.over.name, c[0], p.under.name, c[1], got, p.least)
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, hex string) (l float64) {
	t.Helper()
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		l += weight * c
	}
	return l
}

func TestShort(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1k", 12345: "12.3k", 999_499: "999k", 999_500: "1M", 1 << 40: "1.1T", math.MaxInt64: "9.22E",
	} {
		if got := short(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	if got := fit("measured", nameSize, maxText); got != "measured" {
		t.Errorf("%q: a short name is changed", got)
	}
	if got := fit("abcdefghij", 10, width("abc…ij", 10)); got != "abc…ij" {
		t.Errorf("%q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, most := rapid.String().Draw(t, "text"), rapid.IntRange(20, 300).Draw(t, "most")
		got := fit(s, smallSize, most)
		if w := width(got, smallSize); w > most && s != got {
			t.Fatalf("%q is %d wide, want %d at most", got, w, most)
		}
		head, tail, cut := strings.Cut(got, "…")
		if !cut && got != s || cut && got != s && (!strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail)) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func TestParamsInTitles(t *testing.T) {
	type all struct {
		Times   int                `param:"times"`
		Seed    *int               `param:"seed"`
		Missing *int               `param:"missing"`
		Into    string             `param:"into" default:"stats"`
		Sizes   map[string]float64 `param:"sizes"`
		Items   []string           `param:"items"`
		Any     any                `param:"any"`
		Mapper  component.Step     `param:"mapper"`
		Long    string             `param:"long"`
	}
	c := &component.Component{Type: reflect.TypeFor[all]()}
	for i := range c.Type.NumField() {
		f := c.Type.Field(i)
		c.Params = append(c.Params, component.Param{Name: f.Tag.Get("param"), Default: f.Tag.Get("default"), Field: i})
	}
	seed := 0
	mapper, _ := rename()
	got := params(c, all{
		Times: 3, Seed: &seed, Into: "stats", Sizes: map[string]float64{"train": 0.8, "test": 0.2}, Items: []string{"b", "a"},
		Any:    []component.Entry{{Key: "z", Value: nil}, {Key: "a", Value: []any{int64(1), true}}},
		Mapper: component.Step{Component: mapper}, Long: strings.Repeat("word ", 100),
	})
	want := []string{"  times: 3", "  seed: 0", "  sizes: {test: 0.2, train: 0.8}", "  items: [b, a]", "  any: {z: null, a: [1, true]}", "  mapper: rename"}
	if len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q, want %q and one more", got, want)
	}
	if last := got[len(got)-1]; len(last) > 200 || !strings.Contains(last, "…") {
		t.Errorf("a long value is not shortened: %q", last)
	}
}
