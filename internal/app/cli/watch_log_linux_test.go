package cli_test

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// startLogged pipes the program's output through commands, of which the last one writes to
// the test.
func startLogged(t *testing.T, flow string, through ...[]string) *watched {
	t.Helper()
	w := newWatched(t, flow)
	from := w.cmd
	for _, args := range through {
		r, into, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		from.Stdout = into
		if from == w.cmd {
			from.Stderr = into
		}
		if err := from.Start(); err != nil {
			t.Fatal(err)
		}
		next := exec.CommandContext(t.Context(), args[0], args[1:]...)
		next.Dir, next.Stdin = w.dir, r
		if from != w.cmd {
			t.Cleanup(func() { _ = from.Wait() })
		}
		t.Cleanup(func() { _ = r.Close() })
		_ = into.Close() // the commands keep theirs
		from = next
	}
	out, err := from.StdoutPipe()
	if err == nil {
		err = from.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Wait() })
	w.lines = bufio.NewScanner(out)
	return w
}

// TestWatchIntoALog checks that the program's output is not a change, even if other
// programs write it to a watched directory, here as a shared item. A log that caused a run
// would be named before the real change.
func TestWatchIntoALog(t *testing.T) {
	t.Parallel()
	for name, through := range map[string][][]string{
		"tee":     {{"tee", "data/run.log"}},
		"filters": {{"sed", "-u", "s/^/> /"}, {"tee", "-a", "data/run.log"}},
		"two":     {{"tee", "data/run.log", "data/data/1_log.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startLogged(t, watchedFlow, through...)
			w.until("watching flow.yaml")
			w.grow("05_image.jpeg")
			w.printed = nil
			line := w.until("changed: ")
			if _, names, _ := strings.Cut(line, "changed: "); names != "data/data/05_image.jpeg" {
				t.Errorf("changed: %s; want the image alone", names)
			}
			w.until("watching flow.yaml")
			if log := string(readFile(t, w.path("data/run.log"))); strings.Count(log, "changed: ") != 1 {
				t.Errorf("the log says\n%s\nwant one change", log)
			}
			// A run that reads the growing log says so, and fails.
			if status := w.end(); status > 1 {
				t.Errorf("status %d\n%s", status, strings.Join(w.printed, "\n"))
			}
		})
	}
}

// TestWatchKeepsToWhatIsRead checks that a file next to those that a source reads is not a
// change.
func TestWatchKeepsToWhatIsRead(t *testing.T) {
	t.Parallel()
	w := startWatching(t, `
version: 1
nodes:
  letters: {source: images, with: {path: data/data, exclude: ["2*"]}}
  counted: {map: exec, from: letters, with: {command: [sh, count.sh], items: [image], into: [copy], env: [EXECUTIONS, HOLD]}, keep: true}
  rest: {source: underfolder, with: {path: data}}
  out: {sink: underfolder, from: counted, with: {path: out, overwrite: replace}}
  same: {sink: underfolder, from: rest, with: {path: same, overwrite: replace}, }
`)
	w.ran("ok in", 20)
	for _, other := range []string{"data/data/notes", "data/data/.hidden", "data/readme"} {
		w.write(other, "no sample uses it")
	}
	w.grow("05_image.jpeg")
	w.changed("data/data/05_image.jpeg", "ok in", 1)
	if !slices.Contains(w.printed, "changed: data/data/05_image.jpeg") {
		t.Errorf("files that no node reads are reported:\n%s", strings.Join(w.printed, "\n"))
	}
	w.grow("25_image.jpeg") // excluded by one source, and read by another
	w.changed("data/data/25_image.jpeg", "ok in", 0)
	if status := w.end(); status != 0 {
		t.Errorf("status %d", status)
	}
}
