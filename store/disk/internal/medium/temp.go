package medium

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
	lock *File // nil before the first file
	next atomic.Int64
}

const lockSuffix = ".lock"

// staleTemp is the age at which a temporary file belongs to nobody where there
// are no locks: writing one takes seconds.
const staleTemp = time.Hour

// createTemp makes a new file in the folder for temporary ones, which it makes too
// if somebody deleted it.
func (f *Folder) createTemp(mode fs.FileMode) (*File, error) {
	file, err := f.tryCreate(mode)
	if !IsObstructed(err) {
		return file, err
	}
	f.Close()                            // its lock has no name any more
	if err := f.makeDirs(); err != nil { // all: whoever renames the file needs its folder
		return nil, err
	}
	return f.tryCreate(mode)
}

func (f *Folder) tryCreate(mode fs.FileMode) (*File, error) {
	id, err := f.owner()
	if err != nil {
		return nil, err
	}
	path := f.Path(Temps, fmt.Sprintf("%s.%d", id, f.temps.next.Add(1)))
	return f.OpenFile(path, newFile, mode)
}

const newFile = os.O_WRONLY | os.O_CREATE | os.O_EXCL

// owner returns the ID that the files of this writer begin with.
func (f *Folder) owner() (string, error) {
	t := &f.temps
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.lock == nil {
		id := fmt.Sprintf("%016x", RandomID())
		path := f.Path(Temps, id+lockSuffix)
		file, err := f.OpenFile(path, newFile, 0o666)
		if err != nil {
			return "", err
		}
		if err = file.LockNamed(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = file.Close()
			if errors.Is(err, ErrLocked) || errors.Is(err, fs.ErrNotExist) {
				continue // another process took it for a dead one's
			}
			return "", err
		}
		t.id, t.lock = id, file
	}
	return t.id, nil
}

// LockNamed is TryLock of a file that has a name, if it still has when it is locked.
func (f *File) LockNamed() error {
	if err := f.TryLock(); err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := f.folder.Lstat(f.Name())
	if err == nil && !os.SameFile(opened, named) {
		err = fs.ErrNotExist
	}
	return err
}

// Close ends the use of the folder, but for files that are open.
func (f *Folder) Close() {
	t := &f.temps
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return
	}
	_ = f.Remove(t.lock.Name()) // or the next who opens the store does
	_ = t.lock.Close()          // holds nothing but the lock
	t.lock = nil
}

// Files is how many files are open, but those being written.
func (f *Folder) Files() int {
	t := &f.temps
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return 0
	}
	return 1
}

// RemoveDead removes what processes left that died while writing.
func (f *Folder) RemoveDead() error {
	o := owners{folder: f, dir: f.Path(Temps), dead: make(map[string]bool)}
	defer o.close()
	return f.Each(o.dir, func(path string, e fs.DirEntry) error {
		if !IsTempName(e.Name()) || !e.Type().IsRegular() || o.has(e) {
			return nil
		}
		return f.Remove(path)
	})
}

// owners tells who of those that temporary files are named after is dead.
type owners struct {
	folder *Folder
	dir    string
	dead   map[string]bool // by ID; those that are missing have not been looked at
	held   []*File         // locks of the dead, so that nobody else takes them
}

// has reports whether a file may still be somebody's. The lock of an ID comes
// after its files in a folder.
func (o *owners) has(e fs.DirEntry) bool {
	id, rest, _ := strings.Cut(e.Name(), ".")
	dead, known := o.dead[id]
	if !known {
		file, err := o.folder.OpenFile(filepath.Join(o.dir, id+lockSuffix), os.O_RDONLY, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			dead = true
		case err == nil:
			o.held = append(o.held, file)
			if err = file.TryLock(); errors.Is(err, errors.ErrUnsupported) {
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

// TryWriting reports why nothing can be written, and removes what was left by those
// who died at it.
func (f *Folder) TryWriting() error {
	file, err := f.createTemp(0o666)
	if err != nil {
		return StoreError(err)
	}
	return errors.Join(file.Close(), f.Remove(file.Name()), f.RemoveDead())
}
