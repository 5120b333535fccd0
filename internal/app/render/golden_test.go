package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/render"

	_ "github.com/larder-data/larder/format/images"
	_ "github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/mapper"
	_ "github.com/larder-data/larder/op"
)

var update = flag.Bool("update", false, "write the golden files")

func parse(t testing.TB, file string) *flow.Flow {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := flow.Parse(file, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func readReport(t testing.TB, file string) *flow.Report {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &flow.Report{}
	if err := json.Unmarshal(content, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// written returns the output of a method of a drawing.
func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; see whether the picture is right, then test with -update:\n%s", file, diff)
	}
}

const lettersFlow = "../../../examples/letters/flow.yaml"

func TestGolden(t *testing.T) {
	letters := render.Of(parse(t, lettersFlow), render.Options{})
	golden(t, "../../../examples/letters/flow.svg", written(t, letters.SVG))
	golden(t, "testdata/letters.dot", written(t, letters.DOT))
	golden(t, "testdata/letters.mmd", written(t, letters.Mermaid))

	photos := render.Of(parse(t, "testdata/photos.yaml"), render.Options{})
	golden(t, "testdata/photos.svg", written(t, photos.SVG))
	golden(t, "testdata/photos.dot", written(t, photos.DOT))
	golden(t, "testdata/photos.mmd", written(t, photos.Mermaid))

	run := render.Of(parse(t, "testdata/photos.yaml"), render.Options{Report: readReport(t, "testdata/photos.report.json")})
	golden(t, "testdata/run.svg", written(t, run.SVG))
	golden(t, "testdata/run.dot", written(t, run.DOT))
	golden(t, "testdata/run.mmd", written(t, run.Mermaid))
}

func TestOnly(t *testing.T) {
	f := parse(t, "testdata/photos.yaml")
	got := written(t, render.Of(f, render.Options{Only: []string{"dark", "contact_sheet", "nonsense"}}).Mermaid)
	for _, name := range []string{"photos", "measured", "dark", "twice", "contact_sheet"} {
		if !strings.Contains(got, "<b>"+name+"</b>") {
			t.Errorf("%s is missing", name)
		}
	}
	if n := strings.Count(got, ":::"); n != 5 {
		t.Errorf("%d nodes, want 5:\n%s", n, got)
	}
	if n := strings.Count(got, "-->"); n != 5 { // two between photos and twice
		t.Errorf("%d edges, want 5:\n%s", n, got)
	}
}

// TestGraphvizReadsDOT checks that Graphviz reads the output, and finds every node and
// edge.
func TestGraphvizReadsDOT(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	for name, d := range map[string]*render.Drawing{
		"letters": render.Of(parse(t, lettersFlow), render.Options{}),
		"photos":  render.Of(parse(t, "testdata/photos.yaml"), render.Options{Report: readReport(t, "testdata/photos.report.json")}),
		"hostile": render.Of(hostile(t), render.Options{}),
	} {
		text := written(t, d.DOT)
		c := exec.CommandContext(t.Context(), dot, "-Tsvg")
		c.Stdin = strings.NewReader(text)
		var warnings bytes.Buffer
		c.Stderr = &warnings
		out, err := c.Output()
		if err != nil || strings.Contains(warnings.String(), "rror") {
			t.Fatalf("%s: %v: %s\n%s", name, err, &warnings, text)
		}
		nodes, edges := strings.Count(text, "tooltip="), strings.Count(text, " -> ")
		if n := bytes.Count(out, []byte(`class="node"`)); n != nodes {
			t.Errorf("%s: Graphviz found %d nodes, want %d", name, n, nodes)
		}
		if n := bytes.Count(out, []byte(`class="edge"`)); n != edges {
			t.Errorf("%s: Graphviz found %d edges, want %d", name, n, edges)
		}
	}
}

// failingWriter fails all writes.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestErrorsOfWritersAreReturned(t *testing.T) {
	d := render.Of(parse(t, lettersFlow), render.Options{})
	for _, write := range []func(io.Writer) error{d.SVG, d.DOT, d.Mermaid} {
		if err := write(failingWriter{}); err == nil {
			t.Error("no error")
		}
	}
}
