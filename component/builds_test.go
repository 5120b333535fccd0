package component

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// needsBuilds skips a test that builds programs where that is of no use.
func needsBuilds(t *testing.T) {
	t.Helper()
	testrand.Long(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command: ", err)
	}
}

// An edit changes old to new in one file.
type edit struct{ file, old, new string }

// A line is the program's output about a component.
type line struct{ kind, id string }

const program = "testdata/components"

// TestBuildsOfComponents builds a program, then with edits, and then with another version of a module. The identity of a
// component changes if and only if code that it reaches changes.
func TestBuildsOfComponents(t *testing.T) {
	needsBuilds(t)
	first := build(t, nil)
	was := say(t, first)
	for name, l := range was {
		want := "source"
		switch name {
		case "own functions": // given as values
			if want = "error"; !strings.Contains(l.id, "no key says which") {
				t.Errorf("%s: %s", name, l.id)
			}
		case "own version":
			want = "version"
		case "own clock":
			if want = "error"; !strings.Contains(l.id, "time.Now (the clock)") {
				t.Errorf("%s: %s", name, l.id)
			}
		case "stats of jpeg", "stats of png", "own plain of twice", "own constant of twice", "own area of square":
			want = "result"
		}
		if l.kind != want {
			t.Errorf("%s is identified by %s, want %s: %s", name, l.kind, want, l.id)
		}
	}
	if len(was) < 20 {
		t.Errorf("only %d components are known: %v", len(was), was)
	}
	t.Run("edits", func(t *testing.T) {
		changes(t, was, say(t, build(t, []edit{
			{"../do.go", "", "\nfunc _() {} // what no component reaches\n"},
			{"../store/disk/disk.go", "", "\nfunc _() {}\n"},
			{"../mapper/imagestats.go", "float64(c.sum) / float64(c.n)", "float64(c.sum)/float64(c.n) + 1"},
			{"../codec/jpeg.go", "const narrow = 2", "const narrow = 3"},
			{"../internal/app/expr/metered.go", `"larder do"`, `"larder make"`},
			{"../op/select.go", "return true or false", "it must be one of true and false"},
			{program + "/own/own.go", "3 * int64(by)", "4 * int64(by)"}, // by the constructor of a transform
			{program + "/own/own.go", "n / 2", "n / 3"},                 // by a given function
			{program + "/own/own.go", "n * n", "n * n * n"},             // by one between structs
			{program + "/own/own.go", "times = 2", "times = 3"},         // by a codec
			{program + "/own/own.go", "made(2)", "made(3)"},             // by one with a version
			{program + "/own/own.go", "s.side * s.side", "2 * s.side"},  // by a method of a codec's result
			{program + "/own/own.go", `"number "`, `"no. "`},            // by one of the values made, which the codec calls
		})), "image-stats", "stats of jpeg", "stats of png", "compute", "filter", "own plain", "own plain of twice", "own given", "own typed", "own constant of twice", "own area of square", "own label")
	})
	t.Run("another version of a module", func(t *testing.T) {
		changes(t, was, say(t, otherVersion(t, first, "golang.org/x/image")), // nor the executable, which identifies the rest of the program
			"image-resize", "compute", "filter", "validate",
			"center-crop", "color-jitter", "image-crop", "image-flip", "image-orient", "image-pad", "random-crop", "random-erasing", "random-resized-crop", "stats of png") // whose codec compresses by another module
	})
	t.Run("without the sources of main", func(t *testing.T) {
		now := say(t, build(t, []edit{{program + "/main.go", "codeid.Register(files)", "codeid.Package{}"}}))
		for name, want := range map[string]string{"image-stats": "source", "own plain": "source", "own black": "build", "own clock": "error"} {
			if now[name].kind != want {
				t.Errorf("%s is identified by %s, want %s: %s", name, now[name].kind, want, now[name].id)
			}
		}
	})
}

// changes compares the identities of components.
func changes(t *testing.T, was, now map[string]line, want ...string) {
	t.Helper()
	var changed []string
	for name, l := range now {
		if l != was[name] {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	slices.Sort(want)
	if len(now) != len(was) || !slices.Equal(changed, want) {
		t.Errorf("what changed of %d components (%d before) is %q, want %q", len(now), len(was), changed, want)
	}
}

// build builds the program with edits.
func build(t *testing.T, edits []edit) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "components")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-overlay", overlay(t, edits), "-o", binary, "./"+program)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return binary
}

// otherVersion returns the program as if built with another version of a module, which shows only in the linker's notes.
func otherVersion(t *testing.T, binary, module string) string {
	t.Helper()
	b := []byte(read(t, binary))
	at := bytes.Index(b, []byte("dep\t"+module+"\tv"))
	if at < 0 {
		t.Fatalf("%s is not among the modules of the program", module)
	}
	b[at+len("dep\t"+module+"\tv")]++ // v0 becomes v1
	other := filepath.Join(t.TempDir(), "components")
	if err := os.WriteFile(other, b, 0o777); err != nil {
		t.Fatal(err)
	}
	return other
}

// say runs the program with its own cache.
func say(t *testing.T, binary string) map[string]line {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, t.TempDir()).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := map[string]line{}
	for text := range strings.Lines(string(out)) {
		words := strings.SplitN(strings.TrimSpace(text), "\t", 3)
		if len(words) != 3 {
			t.Fatalf("the program said %q", text)
		}
		lines[words[0]] = line{words[1], words[2]}
	}
	return lines
}

// overlay writes the file for go build -overlay.
func overlay(t *testing.T, edits []edit) string {
	t.Helper()
	dir := t.TempDir()
	replace, edited := map[string]string{}, map[string]string{}
	for _, e := range edits {
		path, err := filepath.Abs(e.file)
		if err != nil {
			t.Fatal(err)
		}
		if edited[path] == "" {
			edited[path] = read(t, path)
			replace[path] = filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		}
		if e.old == "" { // at the end
			e.old = edited[path]
			e.new = e.old + e.new
		}
		if strings.Count(edited[path], e.old) != 1 {
			t.Fatalf("%s has %q %d times", e.file, e.old, strings.Count(edited[path], e.old))
		}
		edited[path] = strings.Replace(edited[path], e.old, e.new, 1)
		write(t, replace[path], edited[path])
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	write(t, list, string(b))
	return list
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}
