//go:build unix

package mapper

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSweepWaitsForALastChild: of a process that has ended, a child may have the lock of a
// folder for a moment, which is waited for; of one that lives, it is not.
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
			dir := filepath.Join(os.TempDir(), fmt.Sprintf("%sABCDEFGHIJ-%d-1", folderPrefix, c.pid))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			child, err := lockFolder(dir)
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
				t.Errorf("the folder is there: %v, after %d pauses", isThere(dir), waited)
			}
		})
	}
}

// TestFoldersNameTheirOwner: names say which process made them, and names of other kinds
// say none.
func TestFoldersNameTheirOwner(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := makeFolder(newFolders())
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
		if pid := ownerOf(folderPrefix + name); pid != 0 {
			t.Errorf("%s is of process %d", name, pid)
		}
	}
}
