package analysis_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// knownRefusals are the functions of the ten programs that are refused, and why. None is identified by the whole
// program.
var knownRefusals = map[string]string{
	"p02 eval":      "a table of functions, of which one returns an error",
	"p02 undefined": "the same",
	"p02 plot":      "the same",
	"p02 table":     "the same",
	"p02 functions": "the same",

	"p03 chain":  "a table made by a constructor that is called later, too",
	"p03 names":  "the same",
	"p03 dither": "a png.Encoder, whose pool might be written",
	"p03 sheet":  "the same",

	"p05 lzw": "a writer of compress/lzw, which is not known to do no more than write to what a pool returns",

	"p04 draw":     "distributions behind an interface, next to methods of generic types that the library may call",
	"p04 describe": "the same",

	"p05 flate":   "a table of compress/flate, filled by a method that fills others later",
	"p05 unflate": "the same",
	"p05 pack":    "a registry of interfaces, next to a bufio.Writer; a table of hash/crc32",
	"p05 unpack":  "the same",
	"p05 names":   "the same",
	"p05 ratio":   "the same",
	"p05 sum":     "a function of hash/crc32 that is set by a sync.Once",

	"p08 render":   "template functions in a variable",
	"p08 markdown": "the same",

	"p10 mandelbrot": "rightly: runtime.NumCPU",
}

// TestTenPrograms builds ten typical programs with copies of standard library packages as their own. At least four of
// five functions are identified by their sources, and only the listed ones are refused.
func TestTenPrograms(t *testing.T) {
	if !testrand.All() {
		t.Skip("ten programs are built: LARDER_SUITE=all does it")
	}
	dir := t.TempDir()
	readTree(t, "testdata/ten").write(t, dir)
	copyPackages(t, dir)
	registerAll(t, dir)
	bin := t.TempDir()
	goCommand(t, dir, nil, "list", "-mod=mod", "-deps", "./...") // completes go.mod
	goCommand(t, dir, nil, "build", "-mod=mod", "-o", bin, "./...")
	precise, all := 0, 0
	for n := 1; n <= 10; n++ {
		program := fmt.Sprintf("p%02d", n)
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, program))
		cmd.Env = append(os.Environ(), "LARDER_CACHE="+t.TempDir())
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", program, err)
		}
		for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
			f := strings.SplitN(in.Text(), "\t", 4)
			if f[0] != "OWN" {
				continue
			}
			all++
			name := program + " " + f[1]
			if _, known := knownRefusals[name]; f[2] == "ok" {
				precise++
				if known {
					t.Errorf("%s is no longer refused: take it off the list", name)
				}
			} else if !known {
				t.Errorf("%s: %s", name, strings.Join(f[2:], " "))
			}
		}
	}
	t.Logf("%d of %d functions are identified by their sources", precise, all)
	if all < 110 || 5*precise < 4*all {
		t.Errorf("%d of %d functions are identified by their sources; at least four of five should be", precise, all)
	}
}

// copyPackages copies what copied.txt lists from the standard library: target, origin, excluded files, and text
// replacements.
func copyPackages(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(dir, "copied.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		to, from := filepath.Join(dir, words[0]), filepath.Join(runtime.GOROOT(), "src", words[1]) //nolint:staticcheck // of the toolchain that runs the test
		var texts []string
		for _, w := range words[2:] {
			if old, by, ok := strings.Cut(w, "=>"); ok {
				texts = append(texts, old, by)
			}
		}
		files, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		copied := tree{}
		for _, f := range files {
			name := f.Name()
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || slices.Contains(words, "-"+name) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				t.Fatal(err)
			}
			copied[name] = strings.NewReplacer(texts...).Replace(string(b))
		}
		copied.write(t, to)
	}
}

// registerAll has every package of a program register its sources.
func registerAll(t *testing.T, dir string) {
	t.Helper()
	packages := tree{}
	for name, text := range readGo(t, dir) {
		at := strings.Index("\n"+text, "\npackage ")
		fields := strings.Fields(text[at:])
		packages[filepath.Join(filepath.Dir(name), "codeid_embed.go")] = "package " + fields[1] + "\n\nimport (\n\t\"embed\"\n\n\t\"github.com/larder-data/larder/codeid\"\n)\n\n//go:embed *.go\nvar files embed.FS\n\nvar _ = codeid.Register(files)\n"
	}
	packages.write(t, dir)
}

// readGo reads the Go files of a build below a directory.
func readGo(t *testing.T, dir string) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		b, err := os.ReadFile(name)
		if rel, rerr := filepath.Rel(dir, name); rerr == nil && !strings.Contains(string(b), "//go:build ignore") {
			files[rel] = string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
