package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/testing/testrand"
)

// stuck is a sink that writes, and does not end on a signal.
type stuck struct {
	Path component.Path `param:"path,required" doc:"the directory to write"`
}

func init() {
	component.RegisterSink("test-stuck", "Begins to write, and never ends.", func(_ context.Context, env *component.Env, p stuck, _ component.Data) error {
		dir, err := output.StageDir(env.Path(p.Path))
		if err != nil {
			return err
		}
		file, err := output.Stage(filepath.Join(filepath.Dir(env.Path(p.Path)), "rows"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir.Dir, "begun"), nil, 0o666); err != nil {
			return err
		}
		if _, err := file.WriteString("half"); err != nil {
			return err
		}
		<-make(chan struct{})
		return nil
	})
}

// TestSecondInterrupt checks that a program that is too busy to end on a signal ends soon
// after a second one, by that signal. It leaves no process, no directory of a command and
// no pending output.
func TestSecondInterrupt(t *testing.T) {
	testrand.Long(t)
	defaultHangUps(t)
	for _, again := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		b := newBench(t)
		b.write("tmp/.keep", "")
		b.write("hang.sh", "sleep 300 &\nsetsid sleep 300 &\n: > \"$HANG\"\nsleep 300\n")
		t.Setenv("HANG", b.path("tmp/hangs"))
		b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  one: {op: slice, from: letters, with: {stop: 1}}
  x: {map: exec, from: one, with: {command: [sh, hang.sh], items: [metadata], into: [x], env: [HANG]}}
  only: {map: keep-keys, from: x, with: {keys: [x]}}
  out: {sink: jsonl, from: only, with: {path: new/x.jsonl}}
  stuck: {sink: test-stuck, from: letters, with: {path: new/stuck}}
`)
		c := b.inOwnTemp("run", "flow.yaml", "--progress", "none", "--workers", "4")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		begun := func() bool {
			_, err := os.Stat(b.path("tmp/hangs"))
			staged, _ := filepath.Glob(b.path("new/.stuck.larder-*/begun"))
			return err == nil && len(staged) > 0
		}
		for deadline := time.Now().Add(time.Minute); !begun(); <-time.After(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("nothing has begun after a minute\n%s", stderr.String())
			}
		}
		if left := b.left(); len(left) < 3 {
			t.Fatalf("there is no more than %v, so nothing is tried", left)
		}
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); len(b.left()) > 1; <-time.After(time.Millisecond) { // two signals at the same time count as one; the directory of the run stays
			if time.Now().After(deadline) {
				t.Fatalf("a minute after the first: %v", b.left())
			}
		}
		if err := c.Process.Signal(again); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() {
			_ = c.Wait() // it ends by a signal
			close(over)
		}()
		select {
		case <-over:
		case <-time.After(time.Minute):
			t.Fatalf("%v: it goes on after a minute", again)
		}
		if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != again {
			t.Errorf("%v: it ended otherwise: %v\n%s", again, c.ProcessState, stderr.String())
		}
		if left := b.left(); len(left) > 0 {
			t.Errorf("%v left\n%s", again, strings.Join(left, "\n"))
		}
		if left, err := filepath.Glob(b.path("new/.*")); err != nil || len(left) > 0 {
			t.Errorf("%v left %v", again, left)
		}
	}
}
