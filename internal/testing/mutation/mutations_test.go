package mutation

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// together is 2, because each mutation builds and runs with all processors.
const together = 2

// TestMutations applies each edit separately, without touching the tree. Its tests must
// fail with it and pass without it. LARDER_LAWS=n tries one of n edits, others each time,
// until all had their turn. If n is not 1, the caller must also run all tests without an
// edit.
func TestMutations(t *testing.T) {
	of := os.Getenv("LARDER_LAWS")
	if of == "" {
		t.Skip("builds the tests once for every edit, which takes minutes: set LARDER_LAWS=1")
	}
	every, err := strconv.Atoi(of)
	if err != nil || every < 1 {
		t.Fatalf("LARDER_LAWS=%s: must be a number from 1 on", of)
	}
	start := time.Now()
	passing := map[string][]string{}
	type edit struct {
		name string
		mutation
	}
	var edits []edit
	for i, l := range laws {
		for _, m := range l.mutations {
			edits = append(edits, edit{fmt.Sprintf("law%d/%s", i+1, strings.ReplaceAll(m.change, " ", "_")), m})
			dir, _ := directory(m.tests[0])
			for _, test := range m.tests {
				if !slices.Contains(passing[dir], test) {
					passing[dir] = append(passing[dir], test)
				}
			}
		}
	}
	if every > 1 {
		all := edits
		edits = nil
		for _, i := range testrand.Some(t, len(all), every) {
			edits = append(edits, all[i])
		}
		passing = nil
	}
	slots := make(chan struct{}, together)
	var wait sync.WaitGroup
	// t.Parallel would run one per processor.
	run := func(name string, f func(t *testing.T)) {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(name, f)
		})
	}
	for dir, tests := range passing {
		run("unchanged/"+dir, func(t *testing.T) {
			b := build(t, dir, nil)
			for _, test := range tests {
				if out, err := b.run(t, test); err != nil {
					t.Errorf("without an edit: %v\n%s", err, tail(out))
				}
			}
		})
	}
	for _, e := range edits {
		run(e.name, func(t *testing.T) {
			dir, _ := directory(e.tests[0])
			b := build(t, dir, &e.mutation)
			for _, test := range e.tests {
				switch out, err := b.run(t, test); {
				case err == nil:
					t.Errorf("%s: with the edit %q, %s passes", e.file, e.change, test)
				case strings.Contains(out, "panic: test timed out"):
					t.Errorf("%s: with the edit %q, %s hangs, so the edit takes too long to notice", e.file, e.change, test)
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d edits, %v", len(edits), time.Since(start).Round(time.Second))
}

// binary has the built tests of a directory.
type binary struct{ path, dir string }

// build builds the tests of a directory with an edit laid over the tree.
func build(t *testing.T, dir string, m *mutation) binary {
	t.Helper()
	tmp := t.TempDir()
	b := binary{filepath.Join(tmp, "test"), filepath.Join(root, dir)}
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", b.path}
	if m != nil {
		args = append(args, "-overlay", overlay(t, tmp, *m))
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, ".")...)
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("does not build: %v\n%s", err, out)
	}
	return b
}

// overlay writes the input of go build -overlay.
func overlay(t *testing.T, tmp string, m mutation) string {
	t.Helper()
	content, _, err := m.mutate()
	if err != nil {
		t.Fatal(err)
	}
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	edited, list := filepath.Join(tmp, "edited.go"), filepath.Join(tmp, "overlay.json")
	b, err := json.Marshal(map[string]map[string]string{"Replace": {original: edited}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{edited: content, list: b} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// run runs a test, and returns an error if it fails. The run without an edit proves that
// the test exists and passes.
func (b binary) run(t *testing.T, test string) (out string, err error) {
	t.Helper()
	_, name := directory(test)
	cmd := exec.CommandContext(t.Context(), b.path, "-test.v", "-test.short", "-test.timeout=60s", "-test.run=^"+name+"$")
	cmd.Dir = b.dir
	// Tests begin with the same draws each time. Property tests make at least as many
	// checks as without -short, and leave nothing in the tree.
	cmd.Env = append(cmd.Environ(), "LARDER_SUITE=long", "LARDER_SEED=1", "RAPID_SEED=1", "RAPID_CHECKS=1000", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
	all, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if err == nil && !strings.Contains(string(all), "--- PASS: "+name+" ") {
		err = fmt.Errorf("%s did not run to its end", name)
	}
	return string(all), err
}

// tail cuts a string to its end.
func tail(s string) string { return s[max(0, len(s)-2000):] }
