//go:build unix

package mapper

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// TestSweepWaitsForALastChild checks a directory whose lock a child of a dead process still
// holds: the sweep waits for it. It does not wait for a live process.
func TestSweepWaitsForALastChild(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ended := exec.CommandContext(t.Context(), "true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		pid   int
		waits bool
	}{{"ended", ended.Process.Pid, true}, {"alive", os.Getpid(), false}} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(os.TempDir(), fmt.Sprintf("%sABCDEFGHIJ-%d-1", dirPrefix, c.pid))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			child, err := lockDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer child.Close()
			waited := 0
			before := pause
			pause = func() {
				if waited++; waited == 3 {
					child.Close()
				}
			}
			defer func() { pause = before }()
			if err := Sweep(); err != nil {
				t.Fatal(err)
			}
			if isThere(dir) == c.waits || (waited > 0) != c.waits {
				t.Errorf("the directory is there: %v, after %d pauses", isThere(dir), waited)
			}
		})
	}
}

// TestSweepLeavesWhoIsAtWork checks that a sweep may delete the new, unlocked directory of
// an execution, but ends no command of other executions in its run.
func TestSweepLeavesWhoIsAtWork(t *testing.T) {
	for _, ending := range []*component.Cleanup{nil, {}} {
		t.Run(fmt.Sprintf("ending=%v", ending != nil), func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			signs := t.TempDir()
			m, err := Exec{
				Command: []string{"sh", "-c", `echo > "$0/begun"; while [ ! -e "$0/go" ]; do sleep 0.01; done; cp "$LARDER_IN/a.txt" "$LARDER_OUT/b.txt"`, signs},
				Items:   []string{"a"}, Into: []string{"b"},
			}.Transform(&component.Env{Cleanup: ending})
			if err != nil {
				t.Fatal(err)
			}
			in := dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
				return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", []byte("one"))}), nil
			})
			made := make(chan error, 1)
			go func() {
				s, err := dataset.Map(in, m, dataset.MapOptions{Node: "n"}).At(t.Context(), 0)
				if err == nil {
					_, err = s.Value(t.Context(), "b")
				}
				made <- err
			}()
			for !isThere(filepath.Join(signs, "begun")) {
				select {
				case err := <-made:
					t.Fatalf("the command never began: %v", err)
				default:
					runtime.Gosched()
				}
			}
			dirs, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
			if err != nil || len(dirs) == 0 {
				t.Fatal(dirs, err)
			}
			next := dirs[0][:strings.LastIndex(dirs[0], "-")] + "-123"
			if err := os.Mkdir(next, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := Sweep(); err != nil {
				t.Error(err)
			}
			if isThere(next) {
				t.Error("a directory without an owner is left")
			}
			if err := os.WriteFile(filepath.Join(signs, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-made; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDirectoriesNameTheirOwner checks that names of directories identify the process that
// created them, and that other names identify none.
func TestDirectoriesNameTheirOwner(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := makeDir(newDirs())
	if err != nil {
		t.Fatal(err)
	}
	if pid := ownerOf(filepath.Base(f.dir)); pid != os.Getpid() {
		t.Errorf("%s is of process %d", f.dir, pid)
	}
	if err := f.remove(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"ABCDEFGHIJ-x", "ABCDEFGHIJ-", "ABCDEFGHIJ-x-1", "ABCDEFGHIJ-1104224704"} {
		if pid := ownerOf(dirPrefix + name); pid != 0 {
			t.Errorf("%s is of process %d", name, pid)
		}
	}
}

// TestClearRun checks that a program that ends before its commands leaves neither their
// processes nor their directories. Those of other runs stay.
func TestClearRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found by their directories on Linux alone")
	}
	t.Setenv("TMPDIR", t.TempDir())
	run, names, err := makeRunDir()
	if err != nil {
		t.Fatal(err)
	}
	other, otherNames, err := makeRunDir()
	if err != nil {
		t.Fatal(err)
	}
	var commands []*exec.Cmd
	for _, n := range []string{names, otherNames} {
		dir, err := makeDir(n)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), "sleep", "300")
		c.Env = append(os.Environ(), "LARDER_OUT="+dir.dir+"/out")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, c)
	}
	if err := clearRun(run, names); err != nil {
		t.Fatal(err)
	}
	if err := commands[0].Wait(); err == nil {
		t.Error("the command was not ended")
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), names+"*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), otherNames+"*")); len(left) != 2 || !isThere(other.dir) {
		t.Errorf("of the other run there are %v", left)
	}
	if err := commands[1].Process.Signal(os.Signal(syscall.Signal(0))); err != nil {
		t.Errorf("the command of the other run: %v", err)
	}
	_ = commands[1].Process.Kill()
	_ = commands[1].Wait()
}
