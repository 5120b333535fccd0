//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
)

const watchedFlow = `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  counted: {map: exec, from: letters, with: {command: [sh, count.sh], items: [image], into: [copy], code: [table.txt], env: [EXECUTIONS, HOLD]}, keep: true}
  out: {sink: underfolder, from: counted, with: {path: out, overwrite: replace}}
`

// countScript waits in the middle of a run while the directory HOLD has two pipes.
const countScript = `echo run >> "$EXECUTIONS"
if [ -p "$HOLD/held" ]; then echo held > "$HOLD/held"; read x < "$HOLD/go"; fi
cp "$LARDER_IN/image.jpeg" "$LARDER_OUT/copy.jpeg"`

// watched is a program that runs a flow repeatedly.
type watched struct {
	*bench
	cmd     *exec.Cmd
	lines   *bufio.Scanner
	printed []string // since the last check
	hold    string
}

func startWatching(t *testing.T, flow string, args ...string) *watched {
	t.Helper()
	w := newWatched(t, flow, args...)
	w.start()
	return w
}

// newWatched returns a program that has not started.
func newWatched(t *testing.T, flow string, args ...string) *watched {
	t.Helper()
	b := newBench(t)
	b.write("flow.yaml", flow)
	b.write("count.sh", countScript)
	b.write("table.txt", "1")
	w := &watched{bench: b, hold: t.TempDir()}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // only if something is wrong
	t.Cleanup(cancel)
	c := b.command(append([]string{"run", "flow.yaml", "--watch", "--workers", "1"}, args...)...)
	w.cmd = exec.CommandContext(ctx, c.Path, c.Args[1:]...)
	w.cmd.Dir, w.cmd.Env = c.Dir, slices.Concat(c.Env, []string{"HOLD=" + w.hold})
	return w
}

func (w *watched) start() {
	w.t.Helper()
	stderr, err := w.cmd.StderrPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.lines = bufio.NewScanner(stderr)
}

// until reads output until a line contains a string, and returns that line.
func (w *watched) until(part string) string {
	w.t.Helper()
	for w.lines.Scan() {
		w.printed = append(w.printed, w.lines.Text())
		if strings.Contains(w.lines.Text(), part) {
			return w.lines.Text()
		}
	}
	w.t.Fatalf("the program ended without saying %q:\n%s", part, strings.Join(w.printed, "\n"))
	return ""
}

// changed waits for a run caused by a change of one of the names, and for its end. It
// checks the result and the number of executions of the command.
func (w *watched) changed(names, end string, executions int) {
	w.t.Helper()
	w.printed = nil
	line := w.until("changed: ")
	if first, _, _ := strings.Cut(strings.TrimPrefix(line, "changed: "), ","); !strings.Contains(names, first) {
		w.t.Errorf("%s; want %s", line, names)
	}
	w.ran(end, executions)
}

func (w *watched) ran(end string, executions int) {
	w.t.Helper()
	w.until("watching flow.yaml")
	mustContain(w.t, "the run", strings.Join(w.printed, "\n"), end)
	if got := w.executions(); got != executions {
		w.t.Errorf("%d executions, want %d:\n%s", got, executions, strings.Join(w.printed, "\n"))
	}
}

// end interrupts the program and returns its status.
func (w *watched) end() int {
	w.t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	for w.lines.Scan() {
		w.printed = append(w.printed, w.lines.Text())
	}
	_ = w.cmd.Wait() // the status tells
	return w.cmd.ProcessState.ExitCode()
}

// grow adds a byte to an image, which decodes to the same but is another file.
func (w *watched) grow(name string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path("data/data/"+name), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("x")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// burst makes changes while the program is stopped, so that it sees all of them together.
func (w *watched) burst(change func()) {
	w.t.Helper()
	pid := w.cmd.Process.Pid
	err := syscall.Kill(pid, syscall.SIGSTOP)
	if err == nil {
		_, err = syscall.Wait4(pid, nil, syscall.WUNTRACED, nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	change()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		w.t.Fatal(err)
	}
}

func TestWatchRunsWhatChanged(t *testing.T) {
	t.Parallel()
	w := startWatching(t, watchedFlow, "--events", "events")
	w.ran("ok in", 26)
	w.grow("05_image.jpeg") // the first reported change: neither the output nor the events
	w.changed("data/data/05_image.jpeg", "ok in", 1)
	w.burst(func() {
		for _, n := range []string{"01", "02", "03", "04"} {
			w.grow(n + "_image.jpeg")
		}
	})
	w.changed("data/data/01_image.jpeg", "ok in", 4)
	w.write("table.txt", "2")
	w.changed("table.txt", "ok in", 26)
	w.write("count.sh.new", countScript+"\n# other")
	if err := os.Rename(w.path("count.sh.new"), w.path("count.sh")); err != nil { // as editors do
		t.Fatal(err)
	}
	w.changed("count.sh", "ok in", 26)
	sameTree(t, "the output", tree(t, w.path("out/data")), copies(t, w.path("data/data")))
	if status := w.end(); status != 0 {
		t.Errorf("status %d", status)
	}
}

// copies returns the expected output for a directory: its items, and a copy of each image.
func copies(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := tree(t, dir)
	for name, content := range tree(t, dir) {
		if n, ok := strings.CutSuffix(name, "_image.jpeg"); ok {
			all[n+"_copy.jpeg"] = content
		}
	}
	return all
}

func TestWatchThroughMistakes(t *testing.T) {
	testrand.Long(t)
	t.Parallel()
	w := startWatching(t, strings.Replace(watchedFlow, "with:", "wiht:", 1))
	w.ran("flow.yaml:4:", 0)
	w.write("flow.yaml", watchedFlow)
	w.changed("flow.yaml", "ok in", 26)

	w.write("flow.yaml", watchedFlow+"more: [\n")
	w.changed("flow.yaml", "larder: flow.yaml:", 0)
	w.write("flow.yaml.new", watchedFlow)
	if err := os.Rename(w.path("flow.yaml.new"), w.path("flow.yaml")); err != nil {
		t.Fatal(err)
	}
	w.changed("flow.yaml.new, flow.yaml", "ok in", 0)

	if err := os.Rename(w.path("data"), w.path("away")); err != nil {
		t.Fatal(err)
	}
	w.changed("data", "no directory", 0)
	made := filepath.Join(t.TempDir(), "data") // elsewhere, as a run may begin while it is incomplete
	if err := os.CopyFS(made, os.DirFS(w.path("away"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(made, w.path("data")); err != nil {
		t.Fatal(err)
	}
	w.changed("data", "ok in", 0)
	w.grow("00_image.jpeg") // the new directory is watched like the old one
	w.changed("data/data/00_image.jpeg", "ok in", 1)

	if err := os.Remove(w.path("count.sh")); err != nil {
		t.Fatal(err)
	}
	w.changed("count.sh", "failed in", 0)
	w.write("count.sh", countScript)
	w.changed("count.sh", "ok in", 0)
	if err := os.Remove(w.path("count.sh")); err != nil {
		t.Fatal(err)
	}
	w.changed("count.sh", "failed in", 0)
	if status := w.end(); status != 1 {
		t.Errorf("after a failed run: status %d, want 1", status)
	}
}

// TestWatchWrongFlow checks that a wrong flow may be fixed by a file that appears next to
// it.
func TestWatchWrongFlow(t *testing.T) {
	t.Parallel()
	w := startWatching(t, strings.Replace(watchedFlow, "table.txt", "weights.bin", 1))
	w.ran("weights.bin: no such file or directory", 0)
	w.write("weights.bin", "0")
	w.changed("weights.bin", "ok in", 26)
	w.write("flow.yaml", "version: 2\n")
	w.changed("flow.yaml", "larder: flow.yaml:1:", 0)
	if status := w.end(); status != 2 {
		t.Errorf("with a flow file that is wrong: status %d, want 2", status)
	}
}

// TestWatchChangesDuringARun checks that they cause one more run.
func TestWatchChangesDuringARun(t *testing.T) {
	t.Parallel()
	w := startWatching(t, watchedFlow)
	w.ran("ok in", 26)
	held, goOn := filepath.Join(w.hold, "held"), filepath.Join(w.hold, "go")
	if err := errors.Join(syscall.Mkfifo(held, 0o666), syscall.Mkfifo(goOn, 0o666)); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	w.grow("05_image.jpeg")
	w.until("changed: ")
	if got := string(readFile(t, held)); got != "held\n" { // the command is running now
		t.Fatalf("%q", got)
	}
	for _, n := range []string{"01", "02", "25"} {
		w.grow(n + "_image.jpeg")
	}
	if err := os.Remove(held); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goOn, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	w.until("watching flow.yaml")
	w.until("changed: ")
	w.until("watching flow.yaml")
	if got := w.executions(); got != 4 {
		t.Errorf("%d executions, want 4:\n%s", got, strings.Join(w.printed, "\n"))
	}
	sameTree(t, "the output", tree(t, w.path("out/data")), copies(t, w.path("data/data")))

	// This interrupts it during a run.
	if err := syscall.Mkfifo(held, 0o666); err != nil {
		t.Fatal(err)
	}
	w.grow("07_image.jpeg")
	w.until("changed: ")
	readFile(t, held)
	if status := w.end(); status != 130 {
		t.Errorf("status %d, want 130", status)
	}
}

func TestWatchWrongRequests(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	for _, args := range [][]string{{"missing.yaml"}, {"flow.yaml", "--workers", "-1"}, {"flow.yaml", "--progress", "loud"}, {"flow.yaml", "--events", "no/such/directory/events"}} {
		if r := b.larder(append([]string{"run", "--watch"}, args...)...); r.status != 2 || r.stderr == "" {
			t.Errorf("%q: status %d, want 2: %s", args, r.status, r.stderr)
		}
	}
}
