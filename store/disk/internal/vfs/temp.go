package vfs

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

// temps names temporary files after their writer: by an ID that also names a file ID.lock,
// locked while the writer lives. So other processes can find the files of dead writers.
type temps struct {
	mu   sync.Mutex
	id   string
	lock *File // nil before the first file
	next atomic.Int64
}

const lockSuffix = ".lock"

// staleTemp is the age from which a temporary file counts as abandoned if there are no
// locks.
const staleTemp = time.Hour

// createTemp makes a new file in the directory of temporary files, which it creates if it
// was deleted.
func (f *Directory) createTemp(mode fs.FileMode) (*File, error) {
	file, err := f.tryCreate(mode)
	if !IsObstructed(err) {
		return file, err
	}
	f.Close()                            // its lock no longer has a name
	if err := f.makeDirs(); err != nil { // all of them: renaming the file needs its directory
		return nil, err
	}
	return f.tryCreate(mode)
}

func (f *Directory) tryCreate(mode fs.FileMode) (*File, error) {
	id, err := f.owner()
	if err != nil {
		return nil, err
	}
	path := f.Path(Temps, fmt.Sprintf("%s.%d", id, f.temps.next.Add(1)))
	return f.OpenFile(path, newFile, mode)
}

const newFile = os.O_WRONLY | os.O_CREATE | os.O_EXCL

// owner returns the ID with which the files of this writer begin.
func (f *Directory) owner() (string, error) {
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
				continue // another process treated it as a dead writer's
			}
			return "", err
		}
		t.id, t.lock = id, file
	}
	return t.id, nil
}

// LockNamed is TryLock of a file, and then checks that the file still has its name.
func (f *File) LockNamed() error {
	if err := f.TryLock(); err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := f.directory.Lstat(f.Name())
	if err == nil && !os.SameFile(opened, named) {
		err = fs.ErrNotExist
	}
	return err
}

// Close ends the use of the directory, except for open files.
func (f *Directory) Close() {
	t := &f.temps
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return
	}
	_ = f.Remove(t.lock.Name()) // otherwise the next process that opens the store does
	_ = t.lock.Close()          // holds nothing but the lock
	t.lock = nil
}

// Files returns the number of open files, without those being written.
func (f *Directory) Files() int {
	t := &f.temps
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return 0
	}
	return 1
}

// RemoveDead removes the temporary files of processes that died while writing.
func (f *Directory) RemoveDead() error {
	o := owners{directory: f, dir: f.Path(Temps), dead: make(map[string]bool)}
	defer o.close()
	return f.Each(o.dir, func(path string, e fs.DirEntry) error {
		if !IsTempName(e.Name()) || !e.Type().IsRegular() || o.has(e) {
			return nil
		}
		return f.Remove(path)
	})
}

// owners determines which writers of temporary files are dead.
type owners struct {
	directory *Directory
	dir       string
	dead      map[string]bool // by ID; a missing ID is not checked yet
	held      []*File         // so that no other process takes them
}

// has reports whether the writer of a file may be alive. The lock of an ID sorts after its
// files.
func (o *owners) has(e fs.DirEntry) bool {
	id, rest, _ := strings.Cut(e.Name(), ".")
	dead, known := o.dead[id]
	if !known {
		file, err := o.directory.OpenFile(filepath.Join(o.dir, id+lockSuffix), os.O_RDONLY, 0)
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

// TryWriting reports why nothing can be written, and removes the files of dead writers.
func (f *Directory) TryWriting() error {
	file, err := f.createTemp(0o666)
	if err != nil {
		return StoreError(err)
	}
	return errors.Join(file.Close(), f.Remove(file.Name()), f.RemoveDead())
}
