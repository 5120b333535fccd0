package main_test

import (
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/larder-data/larder/cli" // whose components the program has
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/testing/pythontest"
	"github.com/larder-data/larder/internal/testing/testrand"
)

// mapped are parameters of the mappers that need some.
var mapped = map[string]string{
	"compute":             `{set: {a: "1 + 2"}}`,
	"convert":             `{to: {image: bmp}}`,
	"exec":                `{command: [sh, -c, 'wc -c < "$LARDER_IN/image.png" > "$LARDER_OUT/n.txt"'], items: [image], into: [n]}`,
	"python":              `{function: "f.py:twice", items: [a], into: [n]}`,
	"center-crop":         `{width: 2, height: 2}`,
	"image-crop":          `{width: 2, height: 2}`,
	"image-flip":          `{horizontal: 1}`,
	"image-pad":           `{left: 1}`,
	"image-resize":        `{width: 2, height: 2}`,
	"image-orient":        `{}`,
	"random-crop":         `{width: 1, height: 1}`,
	"random-erasing":      `{}`,
	"random-resized-crop": `{width: 2, height: 2}`,
	"color-jitter":        `{brightness: 0.5}`,
	"image-stats":         `{}`,
	"hash":                `{items: [image], into: h}`,
}

// moves are mappers that move items, or consist of others: they store nothing themselves.
var moves = "compose drop-keys duplicate format-keys keep-keys rename set-value share validate"

// TestMappersHaveParameters: each mapper that keeps results is in the table above.
func TestMappersHaveParameters(t *testing.T) {
	for _, c := range component.All(component.Map) {
		_, ok := mapped[c.Name]
		if moved := slices.Contains(strings.Fields(moves), c.Name); ok == moved {
			t.Errorf("mapper %s: in the table %v, moves items %v", c.Name, ok, moved)
		}
	}
}

// TestResultsOfOtherBuilds: what one build of the program computed another one finds, for
// each mapper that keeps results.
func TestResultsOfOtherBuilds(t *testing.T) {
	if !testrand.All() {
		t.Skip("builds the program three times, which takes minutes; LARDER_SUITE=all tries it")
	}
	pythontest.Need(t)
	dir, cache := t.TempDir(), t.TempDir()
	writeFiles(t, dir)
	for i, flags := range [][]string{nil, {"-ldflags=-s -w"}, {"-trimpath"}} {
		program := filepath.Join(t.TempDir(), "larder")
		if out, err := exec.CommandContext(t.Context(), "go", append(append([]string{"build"}, flags...), "-o", program, ".")...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for name, computed := range runAll(t, program, dir, cache) {
			if first := i == 0; first != (computed > 0) {
				t.Errorf("built with %q, %s computes %d samples", flags, name, computed)
			}
		}
	}
}

// writeFiles writes images, a function and a flow with each mapper.
func writeFiles(t *testing.T, dir string) {
	t.Helper()
	var flow strings.Builder
	flow.WriteString("version: 1\nnodes:\n  in: {source: images, with: {path: images}}\n")
	for _, c := range component.All(component.Map) {
		with, ok := mapped[c.Name]
		if !ok {
			continue
		}
		from := "in"
		if c.Name == "python" {
			from = "compute" // whose numbers need no NumPy
		}
		fmt.Fprintf(&flow, "  %s: {map: %s, from: %s, checkpoint: true, with: %s}\n", c.Name, c.Name, from, with)
	}
	for name, text := range map[string]string{"flow.yaml": flow.String(), "f.py": "def twice(a):\n    return 2 * a\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "images"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		f, err := os.Create(filepath.Join(dir, "images", fmt.Sprint(i, ".png")))
		if err != nil {
			t.Fatal(err)
		}
		m := image.NewGray(image.Rect(0, 0, 4, 4))
		m.Pix[0] = uint8(i)
		if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// runAll runs the flow, and returns how many samples each mapper computed.
func runAll(t *testing.T, program, dir, cache string) map[string]int {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), program, "run", "flow.yaml", "--cache", cache, "--report", report, "--progress", "none")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var stats struct {
		Nodes []struct {
			Name, Kind string
			Computed   int
		}
	}
	if err := json.Unmarshal(b, &stats); err != nil {
		t.Fatal(err)
	}
	computed := map[string]int{}
	for _, n := range stats.Nodes {
		if n.Kind == "map" {
			computed[n.Name] = n.Computed
		}
	}
	if len(computed) != len(mapped) {
		t.Fatalf("the report has %d mappers, want %d", len(computed), len(mapped))
	}
	return computed
}
