package mapper

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/larder-data/larder/internal/proc/process"
)

// dirPrefix is the prefix of the directories in which commands run.
const dirPrefix = "larder-exec-"

// A workDir is the directory for one run of a command. The process that created it
// holds a lock on it while it lives, so that other processes know which directories
// they may remove.
type workDir struct {
	dir  string
	lock *os.File // nil where directories cannot be locked
}

// newDirs returns the name prefix of the directories of one run of a mapper. It
// contains the PID.
func newDirs() string {
	return fmt.Sprintf("%s%s-%d-", dirPrefix, rand.Text()[:nonceLen], os.Getpid())
}

// ofRun is the suffix of the directory that exists for the whole run. Its name leads to
// the processes of executions that have ended and have no directory any longer.
const ofRun = "run"

// ownerOf returns the PID in the name of a directory, or 0.
func ownerOf(name string) int {
	text, _, named := strings.Cut(name[len(dirPrefix)+nonceLen+1:], "-")
	pid, err := strconv.Atoi(text)
	if err != nil || !named {
		return 0
	}
	return pid
}

const nonceLen = 10

// makeRunDir creates the directory of a new run, and returns the name prefix for its
// executions.
func makeRunDir() (workDir, string, error) {
	for {
		names := newDirs()
		dir := filepath.Join(os.TempDir(), names+ofRun)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return workDir{}, "", fmt.Errorf("%w; TMPDIR sets the directory of temporary files", err)
		}
		// A process that cleans up may have locked it first, and ends all processes of
		// that name.
		if f, err := lockNew(dir); !errors.Is(err, errLocked) {
			return f, names, err
		}
	}
}

// makeDir creates the directory of an execution with this name prefix.
func makeDir(names string) (workDir, error) {
	for {
		dir, err := os.MkdirTemp("", names)
		if err != nil {
			return workDir{}, fmt.Errorf("%w; TMPDIR sets the directory of temporary files", err)
		}
		if f, err := lockNew(dir); !errors.Is(err, errLocked) {
			return f, err
		}
	}
}

// lockNew locks a new directory. Another process that cleans up may have locked it, and
// then removes it.
func lockNew(dir string) (workDir, error) {
	lock, err := lockDir(dir)
	if err != nil && !errors.Is(err, errLocked) {
		return workDir{}, errors.Join(err, os.RemoveAll(dir))
	}
	return workDir{dir, lock}, err
}

// clearRun ends the processes of a run, and removes its directory and those of its
// executions, which have the given prefix. A program that ends before its runs calls
// it.
func clearRun(directory workDir, names string) error {
	endUsers(usersOf(directory.dir))
	all, err := filepath.Glob(filepath.Join(os.TempDir(), names+"*"))
	for _, dir := range all {
		if rerr := removeAll(dir); rerr != nil {
			err = rerr
		}
	}
	return err
}

// errLocked says that a directory belongs to another process, or was removed.
var errLocked = errors.New("the directory belongs to another process")

func (f workDir) remove() error {
	err := removeAll(f.dir)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// removeAll removes a directory, even if the command removed the permission to do so.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if errors.Is(err, fs.ErrPermission) {
		giveRights(dir)
		err = os.RemoveAll(dir)
	}
	return err
}

// giveRights gives the owner permission to remove everything in a directory, as far as
// possible.
func giveRights(dir string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && err == nil { // before it is read
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// Sweep cleans up after commands whose programs were killed. It removes their
// directories and, as far as the system can identify them, ends their processes. It
// touches only what belongs to the user, and nothing of a running program.
func Sweep() error {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return nil // then there is nothing to remove
	}
	var errs []error
	end := time.Now().Add(maxPause)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) || len(e.Name()) <= len(dirPrefix)+nonceLen {
			continue
		}
		dir := filepath.Join(os.TempDir(), e.Name())
		lock, err := lockDir(dir)
		for err != nil && isThere(dir) && isGone(ownerOf(e.Name())) && time.Now().Before(end) {
			pause()
			lock, err = lockDir(dir)
		}
		if err != nil || lock == nil {
			continue
		}
		endUsers(usersOf(dir))
		errs = append(errs, workDir{dir, lock}.remove())
	}
	return errors.Join(errs...)
}

// endUsers ends the processes that work in a directory whose path has the prefix, or
// that have it in their environment.
func endUsers(prefix string) { process.End(prefix, "LARDER_OUT="+prefix, "LARDER_BATCH="+prefix) }

// usersOf returns the path prefix that identifies the processes of an abandoned
// directory: those in it and, for the directory of a run, those of all its executions.
// The directory of one execution may be unlocked for a moment while it is created. So
// it says nothing about other executions of its run.
func usersOf(dir string) string {
	if names, found := strings.CutSuffix(dir, "-"+ofRun); found {
		return names + "-"
	}
	return dir + string(filepath.Separator)
}

// A program that is killed while it starts a command leaves a child that holds all its
// locks until it has become the command, and then ends. Sweep waits for such a child,
// but not if the PID is in use.
const maxPause = 500 * time.Millisecond

var pause = func() { <-time.After(time.Millisecond) } // tests replace it

func isThere(dir string) bool {
	_, err := os.Lstat(dir)
	return err == nil
}
