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

// folderPrefix begins the names of the folders in which commands run.
const folderPrefix = "larder-exec-"

// A workFolder is the folder in which a command runs once. It is locked as long as
// the process that made it lives, so that others know which they may clear away.
type workFolder struct {
	dir  string
	lock *os.File // nil where folders cannot be locked
}

// newFolders is how the names of the folders of one run of a mapper begin. They say
// whose they are.
func newFolders() string {
	return fmt.Sprintf("%s%s-%d-", folderPrefix, rand.Text()[:nonceLen], os.Getpid())
}

// ofRun ends the name of the folder that stands for a run as long as that lasts: what is
// left of executions that are over, and have no folder, is found by the names of all.
const ofRun = "run"

// ownerOf is the number of the process that made a folder of that name, or 0.
func ownerOf(name string) int {
	text, _, named := strings.Cut(name[len(folderPrefix)+nonceLen+1:], "-")
	pid, err := strconv.Atoi(text)
	if err != nil || !named {
		return 0
	}
	return pid
}

const nonceLen = 10

// makeRunFolder makes the folder of a new run, and says how the names of those of its
// executions begin.
func makeRunFolder() (workFolder, string, error) {
	for {
		names := newFolders()
		dir := filepath.Join(os.TempDir(), names+ofRun)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return workFolder{}, "", fmt.Errorf("%w; temporary folders are in the one that TMPDIR names", err)
		}
		// Whoever clears away may have had it first, and ends all of that name.
		if f, err := lockNew(dir); !errors.Is(err, errLocked) {
			return f, names, err
		}
	}
}

// makeFolder makes the folder of an execution, of a new name that begins so.
func makeFolder(names string) (workFolder, error) {
	for {
		dir, err := os.MkdirTemp("", names)
		if err != nil {
			return workFolder{}, fmt.Errorf("%w; temporary folders are in the one that TMPDIR names", err)
		}
		if f, err := lockNew(dir); !errors.Is(err, errLocked) {
			return f, err
		}
	}
}

// lockNew locks a folder that was just made; another may have done that, and clears it
// away then.
func lockNew(dir string) (workFolder, error) {
	lock, err := lockFolder(dir)
	if err != nil && !errors.Is(err, errLocked) {
		return workFolder{}, errors.Join(err, os.RemoveAll(dir))
	}
	return workFolder{dir, lock}, err
}

// clearRun ends the processes of a run, and removes its folder and those of its executions,
// of which the names begin so, for a program that ends before they do.
func clearRun(folder workFolder, names string) error {
	endUsers(usersOf(folder.dir))
	all, err := filepath.Glob(filepath.Join(os.TempDir(), names+"*"))
	for _, dir := range all {
		if rerr := removeAll(dir); rerr != nil {
			err = rerr
		}
	}
	return err
}

// errLocked says that a folder is another's, or gone.
var errLocked = errors.New("the folder is another's")

func (f workFolder) remove() error {
	err := removeAll(f.dir)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// removeAll removes a folder, also one in which the command took the right to do so away.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if errors.Is(err, fs.ErrPermission) {
		giveRights(dir)
		err = os.RemoveAll(dir)
	}
	return err
}

// giveRights lets the owner remove all that is in a folder, as far as the owner may.
func giveRights(dir string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && err == nil { // before it is read
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// Sweep clears away what commands left whose programs were killed: their folders
// and, as far as the system tells whose they are, their processes. Only what is the
// user's own is looked at, and nothing of a program that runs.
func Sweep() error {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return nil // then nothing can be there that is ours
	}
	var errs []error
	end := time.Now().Add(mostPause)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) || len(e.Name()) <= len(folderPrefix)+nonceLen {
			continue
		}
		dir := filepath.Join(os.TempDir(), e.Name())
		lock, err := lockFolder(dir)
		for err != nil && isThere(dir) && isGone(ownerOf(e.Name())) && time.Now().Before(end) {
			pause()
			lock, err = lockFolder(dir)
		}
		if err != nil || lock == nil {
			continue
		}
		endUsers(usersOf(dir))
		errs = append(errs, workFolder{dir, lock}.remove())
	}
	return errors.Join(errs...)
}

// endUsers ends the processes that were given a folder of which the path begins so, or
// that work in one.
func endUsers(prefix string) { process.End(prefix, "LARDER_OUT="+prefix, "LARDER_BATCH="+prefix) }

// usersOf is how the paths begin of which the users belong to a folder that nobody has:
// those in it and, where it stands for a run, those of all executions of that. The folder
// of one execution may be nobody's for a moment, while it is made, and others of its run
// be at work.
func usersOf(dir string) string {
	if names, found := strings.CutSuffix(dir, "-"+ofRun); found {
		return names + "-"
	}
	return dir + string(filepath.Separator)
}

// A program that is killed while it starts a command leaves a child that has all its
// locks, until it has become the command, and ends then. That is waited for, but not
// for whoever has a number of its own elsewhere.
const mostPause = 500 * time.Millisecond

var pause = func() { <-time.After(time.Millisecond) } // tests have another

func isThere(dir string) bool {
	_, err := os.Lstat(dir)
	return err == nil
}
