package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// defaultHangUps makes new processes end on SIGHUP, as by default, also if the tests run
// below nohup.
func defaultHangUps(t *testing.T) {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangUps) })
}

// forking is a command that leaves children behind, in its group and outside of it.
const forking = `sleep 300 &
setsid sleep 300 2> /dev/null &
(setsid sh -c 'sleep 300 & cd /; exec sleep 300' 2> /dev/null &)
[ -n "${LARDER_OUT##*A*}" ] || setsid sleep 300 & # one in some holds stderr
sleep 0.02
echo "$$" > "$LARDER_OUT/x.txt"
`

func newForking(t *testing.T) *bench {
	b := newBench(t)
	b.write("fork.sh", forking)
	b.write("tmp/.keep", "")
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  some: {op: slice, from: letters, with: {stop: 10}}
  x: {map: exec, from: some, with: {command: [sh, fork.sh], items: [metadata], into: [x]}, keep: true}
  out: {sink: underfolder, from: x, with: {path: out, overwrite: replace}}
`)
	return b
}

// inOwnTemp is a command with its own temporary files.
func (b *bench) inOwnTemp(args ...string) *exec.Cmd {
	c := b.command(args...)
	c.Env = append(c.Env, "TMPDIR="+b.path("tmp"))
	return c
}

// left lists the directories of commands, and the processes that have one.
func (b *bench) left() (all []string) {
	b.t.Helper()
	all, err := filepath.Glob(b.path("tmp/larder-exec-*"))
	if err != nil {
		b.t.Fatal(err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range processes {
		environ, err := os.ReadFile(p)
		if err == nil && (bytes.Contains(environ, []byte("LARDER_OUT="+b.path("tmp"))) || bytes.Contains(environ, []byte("LARDER_BATCH="+b.path("tmp")))) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
			all = append(all, fmt.Sprintf("%s %q", p, line))
		}
	}
	return all
}

// TestNothingOutlivesTheRun checks that a run stopped at any time and in any way leaves no
// process, directory or lock. After a kill, the next program that opens a cache deletes
// them.
func TestNothingOutlivesTheRun(t *testing.T) {
	testrand.Long(t)
	defaultHangUps(t)
	b := newForking(t)
	start := time.Now()
	c := b.inOwnTemp("run", "flow.yaml", "--cache", b.path("whole"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(start)
	if left := b.left(); len(left) > 0 {
		t.Fatalf("after a run that ended well: %v", left)
	}
	random := testrand.New(t)
	stopped := map[syscall.Signal]int{}
	for i := range testrand.Rounds(4, 30) {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
			cache := b.path(fmt.Sprintf("cache-%d-%d", i, signal))
			c := b.inOwnTemp("run", "flow.yaml", "--cache", cache)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			stop := time.AfterFunc(took/16+time.Duration(random.Int64N(int64(took)*3/4)), func() { _ = c.Process.Signal(signal) }) // it may have ended
			_ = c.Wait()
			stop.Stop()
			status := c.ProcessState.ExitCode()
			if status == 130 || status == -1 {
				stopped[signal]++
			}
			if signal == syscall.SIGKILL {
				if out, err := b.inOwnTemp("ls", "--cache", cache).CombinedOutput(); err != nil {
					t.Fatalf("after a kill: %v\n%s", err, out)
				}
			} else if status != 0 && status != 130 && status != -1 { // -1: it had not installed its handlers
				t.Fatalf("%v: status %d\n%s", signal, status, stderr.String())
			}
			if left := b.left(); len(left) > 0 {
				t.Fatalf("%v, status %d, left\n%s", signal, status, strings.Join(left, "\n"))
			}
			if i == 0 {
				if out, err := b.inOwnTemp("run", "flow.yaml", "--cache", cache).CombinedOutput(); err != nil {
					t.Fatalf("the run after %v: %v\n%s", signal, err, out)
				}
			}
			_ = os.RemoveAll(cache)
		}
		if i%10 == 9 {
			t.Logf("%d moments; stopped: %v", i+1, stopped)
		}
	}
	for signal, n := range stopped {
		t.Logf("%v stopped %d runs", signal, n)
	}
	if len(stopped) < 4 && testrand.All() || len(stopped) == 0 {
		t.Errorf("not every signal stopped a run: %v", stopped)
	}
}

// TestNohup checks that an ignored SIGHUP stays ignored.
func TestNohup(t *testing.T) {
	defaultHangUps(t)
	b := newBench(t)
	b.write("wait.sh", `echo begun > "$GO.begun"; read line < "$GO"; cp "$LARDER_IN/metadata.yaml" "$LARDER_OUT/x.yaml"`)
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  one: {op: slice, from: letters, with: {stop: 1}}
  x: {map: exec, from: one, with: {command: [sh, wait.sh], items: [metadata], into: [x], env: [GO]}}
  out: {sink: underfolder, from: x, with: {path: out, overwrite: replace}}
`)
	for _, ignored := range []bool{true, false} {
		gate := filepath.Join(t.TempDir(), "gate") // not below the flow's directory, as it is not code
		for _, fifo := range []string{gate, gate + ".begun"} {
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := b.command("run", "flow.yaml", "--progress", "none")
		c.Env = append(c.Env, "GO="+gate)
		if ignored {
			c.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`, c.Path}, c.Args[1:]...)
			c.Path, _ = exec.LookPath("sh")
		}
		var stderr bytes.Buffer
		c.Stderr = &stderr
		over := make(chan struct{})
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// The file is opened for both, so that opening does not wait for a command that
		// never comes.
		f, err := os.OpenFile(gate+".begun", os.O_RDWR, 0)
		if err == nil {
			go func() { _ = c.Wait(); _, _ = f.WriteString("ended\n"); close(over) }()
			_, err = f.Read(make([]byte, 1))
		}
		if err == nil {
			err = c.Process.Signal(syscall.SIGHUP)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		want := 130
		if ignored {
			want = 0
			g, err := os.OpenFile(gate, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if _, err := g.WriteString("go\n"); err != nil {
				t.Fatal(err)
			}
		}
		<-over
		if c.ProcessState.ExitCode() != want {
			t.Errorf("ignored %v: status %d, want %d\n%s", ignored, c.ProcessState.ExitCode(), want, stderr.String())
		}
	}
}

// TestNothingOutlivesABatch checks that the remains of a command for several samples go
// when it ends. After a kill of the program they go when a cache is opened next.
func TestNothingOutlivesABatch(t *testing.T) {
	testrand.Long(t)
	b := newForking(t)
	b.write("fork.sh", strings.NewReplacer(`"$LARDER_OUT/x.txt"`, `"$LARDER_BATCH/$s/out/x.txt"`, `"${LARDER_OUT##*A*}"`, `"${LARDER_BATCH##*A*}"`).Replace(
		`for s in $(ls "$LARDER_BATCH"); do `+forking+`done; while [ -e "$HANG" ]; do : > "$HANG.here"; sleep 0.01; done`))
	flow := strings.Replace(string(readFile(t, b.path("flow.yaml"))), "into: [x]", "into: [x], batch: 5, env: [HANG]", 1)
	b.write("flow.yaml", flow)
	t.Setenv("HANG", b.path("hang"))
	if out, err := b.inOwnTemp("run", "flow.yaml", "--cache", b.path("whole")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left := b.left(); len(left) > 0 {
		t.Fatalf("after a run that ended well: %v", left)
	}
	b.write("hang", "")
	c := b.inOwnTemp("run", "flow.yaml", "--cache", b.path("killed"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := os.Stat(b.path("hang.here")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no command has begun after a minute")
		}
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if left := b.left(); len(left) < 3 {
		t.Fatalf("the kill left no more than %v, so nothing is tried", left)
	}
	if out, err := b.inOwnTemp("ls", "--cache", b.path("killed")).CombinedOutput(); err != nil {
		t.Fatalf("after a kill: %v\n%s", err, out)
	}
	if left := b.left(); len(left) > 0 {
		t.Errorf("left are\n%s", strings.Join(left, "\n"))
	}
}
