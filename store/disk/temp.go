package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Temporary files are named after who writes them: an ID that a file of its own
// goes by, ID.lock, which is locked as long as the writer lives. So whoever
// opens the store, or cleans it up, knows what belongs to nobody any more.
type temps struct {
	mu   sync.Mutex
	id   string
	lock *os.File // nil before the first file
	next atomic.Int64
}

const lockSuffix = ".lock"

// staleTemp is the age at which a temporary file belongs to nobody where there
// are no locks: writing one takes seconds.
const staleTemp = time.Hour

// create makes a new file in the folder for temporary ones, which it makes too
// if somebody deleted it.
func (t *temps) create(s *Store, mode fs.FileMode) (*os.File, error) {
	f, err := t.tryCreate(s, mode)
	if !isObstructed(err) {
		return f, err
	}
	t.close() // its lock has no name any more
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, err
	}
	for _, dir := range folders { // whoever renames the file needs its folder
		if err := s.makeDir(filepath.Join(s.dir, dir)); err != nil {
			return nil, err
		}
	}
	return t.tryCreate(s, mode)
}

func (t *temps) tryCreate(s *Store, mode fs.FileMode) (*os.File, error) {
	id, err := t.owner(s)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, tempDir, fmt.Sprintf("%s.%d", id, t.next.Add(1)))
	return os.OpenFile(path, newFile, mode)
}

const newFile = os.O_WRONLY | os.O_CREATE | os.O_EXCL

// owner returns the ID that the files of this writer begin with.
func (t *temps) owner(s *Store) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.lock == nil {
		id := fmt.Sprintf("%016x", randomID())
		path := filepath.Join(s.dir, tempDir, id+lockSuffix)
		file, err := os.OpenFile(path, newFile, 0o666)
		if err != nil {
			return "", err
		}
		if err = lockNamed(file, path); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = file.Close()
			if errors.Is(err, errLocked) || errors.Is(err, fs.ErrNotExist) {
				continue // another process took it for a dead one's
			}
			return "", err
		}
		t.id, t.lock = id, file
	}
	return t.id, nil
}

// lockNamed locks a file that has a name, if it still has when it is locked.
func lockNamed(file *os.File, path string) error {
	if err := tryLock(file); err != nil {
		return err
	}
	opened, err := file.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(path)
	if err == nil && !os.SameFile(opened, named) {
		err = fs.ErrNotExist
	}
	return err
}

// close gives the ID up.
func (t *temps) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return
	}
	_ = os.Remove(t.lock.Name()) // or the next who opens the store does
	_ = t.lock.Close()           // holds nothing but the lock
	t.lock = nil
}

// files is how many files are open, but those being written.
func (t *temps) files() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return 0
	}
	return 1
}

// removeDeadTemps removes what processes left that died while writing.
func (s *Store) removeDeadTemps() error {
	o := owners{dir: filepath.Join(s.dir, tempDir), dead: make(map[string]bool)}
	defer o.close()
	return eachFile(o.dir, func(path string, e fs.DirEntry) error {
		if !isTempName(e.Name()) || !e.Type().IsRegular() || o.has(e) {
			return nil
		}
		return os.Remove(path)
	})
}

// owners tells who of those that temporary files are named after is dead.
type owners struct {
	dir  string
	dead map[string]bool // by ID; those that are missing have not been looked at
	held []*os.File      // locks of the dead, so that nobody else takes them
}

// has reports whether a file may still be somebody's. The lock of an ID comes
// after its files in a folder.
func (o *owners) has(e fs.DirEntry) bool {
	id, rest, _ := strings.Cut(e.Name(), ".")
	dead, known := o.dead[id]
	if !known {
		file, err := os.Open(filepath.Join(o.dir, id+lockSuffix))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			dead = true
		case err == nil:
			o.held = append(o.held, file)
			if err = tryLock(file); errors.Is(err, errors.ErrUnsupported) {
				return "."+rest == lockSuffix || !isStale(e)
			}
			dead = err == nil
		}
		o.dead[id] = dead
	}
	return !dead
}

func (o *owners) close() {
	for _, file := range o.held {
		_ = file.Close() // holds nothing but the lock
	}
}

func isStale(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) >= staleTemp
}
