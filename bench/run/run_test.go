package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/bench/work"
)

func TestExponent(t *testing.T) {
	x := []float64{1e3, 1e4, 1e5, 1e6}
	for _, want := range []float64{0, 0.5, 1, 2} {
		var y []float64
		for _, v := range x {
			y = append(y, 3*math.Pow(v, want))
		}
		if got := exponent(x, y); math.Abs(got-want) > 1e-9 {
			t.Errorf("exponent %v, want %v", got, want)
		}
	}
}

// TestComparisonsExist checks that the names in the short table are measured; others would
// be left out.
func TestComparisonsExist(t *testing.T) {
	var all Results
	if err := all.read(filepath.Join("..", "results.json")); err != nil {
		t.Fatal(err)
	}
	for _, c := range comparisons {
		for _, name := range append([]string{c.main}, c.others...) {
			if _, ok := all.of(c.row, name, c.n, c.figure); !ok {
				t.Errorf("%s: %s has no figure %s in the row %s", c.what, name, c.figure, c.row)
			}
		}
	}
}

func TestFiguresAreWritten(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		v    float64
		want string
	}{
		{Time, 81e-9, "81.0 ns"}, {Time, 999.6e-9, "1.00 µs"}, {Time, 12.34e-3, "12.3 ms"}, {Time, 250, "250 s"},
		{Bytes, 153, "153 B"}, {Bytes, 64 << 20, "64.0 MiB"}, {Count, 671088, "671 088"}, {Part, 0.509, "50.9 %"}, {Time, 0, "0 ns"},
	} {
		if got := c.kind.write(c.v); got != c.want {
			t.Errorf("%v is written %q, want %q", c.v, got, c.want)
		}
	}
}

func TestMedianAndRange(t *testing.T) {
	var r Results
	for _, v := range []float64{5, 1, 3, 9} {
		r.Samples = append(r.Samples, Sample{Row: "hit", Contestant: "x", Figures: work.Figures{"warm": v}})
	}
	if s, ok := r.of("hit", "x", 0, "warm"); !ok || s != (Spread{4, 1, 9}) {
		t.Errorf("%v %v", s, ok)
	}
}

// TestAllContestantsAreShown checks that each contestant of a measured row appears below
// its title: with figures, its error, or why it was not run.
func TestAllContestantsAreShown(t *testing.T) {
	r := Results{Runs: 1}
	for _, row := range rows {
		for i, c := range row.Contestants {
			s := Sample{Row: row.Name, Contestant: c.Name, N: 100_000, Figures: work.Figures{}}
			for _, col := range row.Columns {
				s.Figures[col.Figure] = float64(i + 1)
			}
			if i == 1 {
				s.Error = "it broke: badly"
			}
			if c.Not == "" {
				r.Samples = append(r.Samples, s)
			}
		}
	}
	_, rest, _ := strings.Cut(sections(r), "\n### ")
	for i, section := range strings.Split(rest, "\n### ") {
		for k, c := range rows[i].Contestants {
			want := []string{"| " + c.Name + " |", "| **" + c.Name + "** |"}
			if k == 1 || c.Not != "" {
				want = []string{c.Name + " (" + cmp.Or(c.Not, "it broke") + ")"}
			}
			if !slices.ContainsFunc(want, func(s string) bool { return strings.Contains(section, s) }) {
				t.Errorf("%s: nothing about %s", rows[i].Title, c.Name)
			}
		}
	}
}

// TestPagesAreRendered checks that the pages and charts of the clone match the results.
func TestPagesAreRendered(t *testing.T) {
	t.Chdir("..")
	var all Results
	if err := all.read("results.json"); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := render(root, all); err != nil {
		t.Fatal(err)
	}
	same(t, root, readme, document)
	for _, row := range rows {
		same(t, root, "docs/"+chart(row))
	}
}

// TestPagesAreRenderedByPython checks the sections of the renderers in Python.
func TestPagesAreRenderedByPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	t.Chdir("..")
	root := t.TempDir()
	if err := errors.Join(os.CopyFS(filepath.Join(root, "bench", "python"), os.DirFS("python")), os.Mkdir(filepath.Join(root, "docs"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"bench/loading.json", "bench/shards.json", document} {
		if err := copyFile(filepath.Join("..", file), filepath.Join(root, file)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"loading", "shards"} {
		c := exec.CommandContext(t.Context(), python, filepath.Join(root, "bench", "python", name, "run.py"), "--render")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		same(t, root, document)
	}
}

func same(t *testing.T, root string, files ...string) {
	t.Helper()
	for _, file := range files {
		got, err := os.ReadFile(filepath.Join(root, file))
		want, err2 := os.ReadFile(filepath.Join("..", file))
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the results give (%v, %v); run the renderer again", file, err, err2)
		}
	}
}

func TestMissingMarkers(t *testing.T) {
	t.Chdir("..")
	err := rewrite(t.TempDir(), "CHANGELOG.md", map[string]string{results: ""})
	if want := "CHANGELOG.md: has no markers of bench/results.json; add them"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestContestantsInGo checks that each contestant in Go does its job at the smallest size.
func TestContestantsInGo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some hundred processes")
	}
	m := measurer{quick: true, runs: 1, self: os.Args[0], dir: t.TempDir()}
	for _, r := range rows {
		if r.Name == "letters" { // needs the command larder
			continue
		}
		var inGo []Contestant
		for _, c := range r.Contestants {
			if !c.Python {
				inGo = append(inGo, c)
			}
		}
		r.Contestants, r.Quick = inGo, min(r.Quick, 20)
		samples, err := m.row(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples {
			if s.Error != "" {
				t.Errorf("%s: %s: %s", r.Name, s.Contestant, s.Error)
			}
		}
	}
}

// TestMain runs this program as the runner if it was started for a job.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "job" {
		if err := work.Main(context.Background(), os.Args[2]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
