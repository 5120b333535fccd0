package mapper

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// folderPrefix begins the names of the folders in which commands run.
const folderPrefix = "larder-exec-"

// A workFolder is the folder in which a command runs once. It is locked as long as
// the process that made it lives, so that others know which they may clear away.
type workFolder struct {
	dir  string
	lock *os.File // nil where folders cannot be locked
}

// newFolders is how the names of the folders of one mapper begin.
func newFolders() string { return folderPrefix + rand.Text()[:nonceLen] + "-" }

const nonceLen = 10

// makeFolder makes a folder of a new name that begins so.
func makeFolder(prefix string) (workFolder, error) {
	for {
		dir, err := os.MkdirTemp("", prefix)
		if err != nil {
			return workFolder{}, err
		}
		lock, err := lockFolder(dir)
		if err == nil {
			return workFolder{dir, lock}, nil
		}
		// Whoever clears away may have had it first.
		if !errors.Is(err, errLocked) {
			return workFolder{}, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

// errLocked says that a folder is another's, or gone.
var errLocked = errors.New("the folder is another's")

func (f workFolder) remove() error {
	err := os.RemoveAll(f.dir)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
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
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) || len(e.Name()) <= len(folderPrefix)+nonceLen {
			continue
		}
		dir := filepath.Join(os.TempDir(), e.Name())
		lock, err := lockFolder(dir)
		if err != nil || lock == nil {
			continue
		}
		endProcesses(filepath.Join(os.TempDir(), e.Name()[:len(folderPrefix)+nonceLen+1])) // of all executions of that run
		errs = append(errs, workFolder{dir, lock}.remove())
	}
	return errors.Join(errs...)
}
