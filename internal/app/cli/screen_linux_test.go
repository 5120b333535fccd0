package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pty is a program on a terminal, and the picture there.
type pty struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	*terminal
	written bytes.Buffer
	gate    *os.File // the command of the flow waits for a line from it
}

const gatedFlow = `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  slow: {map: exec, from: letters, with: {command: [sh, -c, "read x < %[1]s; cp $LARDER_IN/image.jpeg $LARDER_OUT/x.jpeg"], items: [image], into: [x]}, checkpoint: true}
  fast: {map: exec, from: letters, with: {command: [sh, -c, "read x < %[1]s; cp $LARDER_IN/image.jpeg $LARDER_OUT/y.jpeg"], items: [image], into: [y]}}
  out: {sink: underfolder, from: fast, with: {path: out}}
`

// onPTY starts a run on its own terminal.
func onPTY(t *testing.T, args ...string) *pty {
	t.Helper()
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	err := errors.Join(
		os.CopyFS(filepath.Join(dir, "data"), os.DirFS("../../../examples/letters/data")),
		os.WriteFile(filepath.Join(dir, "flow.yaml"), fmt.Appendf(nil, gatedFlow, gate), 0o666),
		unix.Mkfifo(gate, 0o666))
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, terminal: newTerminal(100, 40)}
	if p.gate, err = os.OpenFile(gate, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.gate.Close() }) // releases commands that still wait
	slave := p.open()
	defer slave.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	p.cmd = exec.CommandContext(ctx, os.Args[0], append([]string{"run", "flow.yaml", "--cache", "cache", "--workers", "2"}, args...)...)
	p.cmd.Dir, p.cmd.Stderr = dir, slave
	p.cmd.Env = append(os.Environ(), "LARDER_TEST_AS_PROGRAM=1", "TERM=xterm")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// open creates the terminal.
func (p *pty) open() (slave *os.File) {
	p.t.Helper()
	var err error
	if p.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		p.t.Skipf("this test needs a pseudo-terminal: %v", err)
	}
	p.t.Cleanup(func() { p.master.Close() })
	n, err := unix.IoctlGetInt(int(p.master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(p.master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.resize(p.width, p.height)
	return slave
}

func (p *pty) resize(width, height int) {
	p.t.Helper()
	p.width, p.height = width, height
	p.main, p.other = grid{cells: p.blank()}, grid{cells: p.blank()}
	err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pty) picture() string { return strings.Join(p.lines(), "\n") }

// until reads the output of the program until the picture matches.
func (p *pty) until(ok func(picture string) bool) {
	p.t.Helper()
	for !ok(p.picture()) {
		if !p.read() {
			p.t.Fatalf("at the end the terminal showed\n%s", p.picture())
		}
	}
}

// letUntil releases samples one by one until the picture matches.
func (p *pty) letUntil(ok func(picture string) bool) {
	p.t.Helper()
	p.until(func(picture string) bool {
		done := ok(picture)
		if !done {
			p.let(1)
		}
		return done
	})
}

// read reports whether there was more output.
func (p *pty) read() bool {
	buf := make([]byte, 4096)
	n, err := p.master.Read(buf)
	p.written.Write(buf[:n])
	_, _ = p.Write(buf[:n])
	return err == nil
}

// end reads to the end of the program and of its guard, and returns the exit status.
func (p *pty) end() int {
	for p.read() {
	}
	_ = p.cmd.Wait() // the status tells
	return p.cmd.ProcessState.ExitCode()
}

func (p *pty) let(samples int) {
	p.t.Helper()
	if _, err := p.gate.WriteString(strings.Repeat("go\n", samples)); err != nil {
		p.t.Fatal(err)
	}
}

// restored checks that the state of the terminal is restored.
func (p *pty) restored() {
	p.t.Helper()
	if p.onOther || p.hidden || p.cutting {
		p.t.Errorf("the terminal was not given back: %q", p.written.String())
	}
	if n := strings.Count(p.written.String(), leaveScreen); n != 1 {
		p.t.Errorf("the terminal was given back %d times", n)
	}
}

func contains(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}

// line returns the line of a node.
func line(picture, node string) string {
	for l := range strings.Lines(picture) {
		if strings.HasPrefix(l, node+" ") {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

func TestFullScreenToTheEnd(t *testing.T) {
	p := onPTY(t, "--progress", "full")
	p.until(contains("0 of 4 nodes done"))
	p.letUntil(func(s string) bool { // both together
		return strings.Contains(line(s, "slow"), "/26") && strings.Contains(line(s, "out"), "/26") && strings.Fields(line(s, "fast"))[2] != "."
	})
	if !p.onOther || !p.hidden {
		t.Error("the other screen is not shown")
	}
	p.resize(40, 5)
	p.until(func(s string) bool {
		return strings.Contains(s, "and ") && strings.Contains(s, "running") && len(p.lines()) == 5
	})
	p.resize(100, 40)
	p.let(2 * 26)
	if status := p.end(); status != 0 {
		t.Errorf("status %d", status)
	}
	p.restored()
	if s := p.picture(); !strings.Contains(s, "ok in") || !strings.Contains(s, "from memory") || strings.Contains(s, "nodes done") {
		t.Errorf("at the end the terminal shows\n%s", s)
	}
}

func TestFullScreenIsGivenBack(t *testing.T) {
	for _, c := range []struct {
		signal os.Signal
		status int
		says   string
	}{
		{os.Interrupt, 130, "interrupted; computed results are cached"},
		{syscall.SIGTERM, 130, "interrupted; computed results are cached"},
		{syscall.SIGQUIT, 2, "SIGQUIT: quit"}, // the same exit path as a panic
		{os.Kill, -1, ""},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			p := onPTY(t, "--progress", "full")
			p.letUntil(contains("/26"))
			if err := p.cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if status := p.end(); status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			p.restored()
			if _, after, _ := strings.Cut(p.written.String(), leaveScreen); !strings.Contains(after, c.says) {
				t.Errorf("afterwards: %q", after)
			}
		})
	}
}

func TestFullScreenOfAFailedRun(t *testing.T) {
	p := onPTY(t, "--progress", "full", "--only", "out")
	p.letUntil(contains("/26")) // it was listed
	if err := os.Remove(filepath.Join(p.cmd.Dir, "data/data/25_image.jpeg")); err != nil {
		t.Fatal(err)
	}
	p.let(26)
	if status := p.end(); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	p.restored()
	_, after, _ := strings.Cut(p.written.String(), leaveScreen)
	if strings.Count(after, "25_image.jpeg") != 1 || !strings.Contains(after, "larder: node ") {
		t.Errorf("afterwards: %q", after)
	}
}

// TestBars checks the bars of two concurrent nodes, of a node with an unknown number of
// samples, and of an interrupted run.
func TestBars(t *testing.T) {
	p := onPTY(t)
	p.letUntil(func(s string) bool {
		return strings.Contains(line(s, "slow"), "/26 [") && strings.Contains(line(s, "out"), "/26 [") && line(s, "fast") != ""
	})
	if fast := line(p.picture(), "fast"); strings.ContainsAny(fast, "[/%") {
		t.Errorf("the number of samples is unknown: %s", fast)
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if status := p.end(); status != 130 {
		t.Errorf("status %d", status)
	}
	s := p.picture()
	for _, node := range []string{"slow", "out", "fast"} {
		if strings.Count("\n"+s, "\n"+node+" ") != 1 {
			t.Errorf("afterwards there should be one line for %s:\n%s", node, s)
		}
	}
	if strings.Index(s, "/26") > strings.Index(s, "from memory") {
		t.Errorf("the table should come below:\n%s", s)
	}
}
