package underfolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// target is the folder that is written: the one asked for, or a hidden one
// beside it that takes its place when it is complete.
type target struct {
	path         string       // asked for
	dir          string       // written
	old          bool         // path was there, and is compared with what is written
	replaceFiles bool         // in place: files that are there may be replaced
	written      atomic.Int64 // files
	samples      atomic.Int64

	lock io.Closer // on dir: says that its writer is alive

	mu     sync.Mutex
	reused []string // files of path that are as they should be
}

// newTarget makes the hidden folder, and removes those that killed writers
// left.
func newTarget(path string, old bool) (*target, error) {
	parent, base := filepath.Split(path)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, err
	}
	staging, err := stagings(path)
	if err != nil {
		return nil, err
	}
	for _, dir := range staging {
		if err := removeStale(dir); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(parent, "."+base+stagingMark)
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	return &target{path: path, dir: dir, old: old, lock: lock}, os.Chmod(dir, 0o777&^umask())
}

// A hidden folder is called ".NAME.larder-DIGITS", and the old folder, while
// the two change places where that takes two moves, the same with "-old".
const (
	stagingMark = ".larder-"
	asideMark   = "-old"
)

// stagings lists the hidden folders beside a path that were made for it.
func stagings(path string) ([]string, error) {
	parent, base := filepath.Split(path)
	var dirs []string
	err := eachFile(parent, func(e fs.DirEntry) {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), asideMark), "."+base+stagingMark)
		if ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
			dirs = append(dirs, filepath.Join(parent, e.Name()))
		}
	})
	return dirs, err
}

// removeStale removes a hidden folder unless its writer is alive: one with
// another cache does not share our turns.
func removeStale(dir string) error {
	if !canLock {
		return nil // whether its writer is alive cannot be told
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil //nolint:nilerr // somebody holds it, or has just moved it
	}
	return errors.Join(os.RemoveAll(dir), lock.Close())
}

// recoverAside brings back a folder that was moved aside by a writer that was
// killed before it could put the new one in its place.
func recoverAside(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	staging, err := stagings(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range staging {
		if strings.HasSuffix(dir, asideMark) {
			return os.Rename(dir, path)
		}
	}
	return nil
}

// inPlace reports whether files are written into the folder that was asked
// for, one by one.
func (t *target) inPlace() bool { return t.dir == t.path }

// discard removes an unfinished hidden folder.
func (t *target) discard() {
	if !t.inPlace() {
		os.RemoveAll(t.dir) // best effort: the next writer removes it too
		t.lock.Close()
	}
}

// reuse leaves the file of a relative name to be taken from the folder that is
// replaced, if it is there and same says that it has the right content.
func (t *target) reuse(name string, same func(path string) bool) bool {
	if !t.old || t.inPlace() || !same(filepath.Join(t.path, name)) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reused = append(t.reused, name)
	return true
}

// takeReused puts the files that are reused into the new folder. They are
// linked, not copied, where the file system can: the old folder's names for
// them go away.
func (t *target) takeReused() error {
	for _, name := range t.reused {
		was, dst := filepath.Join(t.path, name), filepath.Join(t.dir, name)
		if os.Link(was, dst) == nil {
			continue
		}
		b, err := os.ReadFile(was)
		if err != nil {
			return err
		}
		if err := os.WriteFile(dst, b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// put writes one file of a relative name.
func (t *target) put(name string, content []byte) error {
	t.written.Add(1)
	dst := filepath.Join(t.dir, name)
	if t.inPlace() {
		return t.putInPlace(dst, content)
	}
	return os.WriteFile(dst, content, 0o666)
}

func (t *target) putInPlace(dst string, content []byte) error {
	if !t.replaceFiles {
		f, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is already there; say overwrite: overwrite-files to replace files", dst)
		}
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return errors.Join(err, f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(dst), ".larder-")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = errors.Join(os.Chmod(f.Name(), 0o666&^umask()), os.Rename(f.Name(), dst))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// finish marks the folder as complete and puts it in its place. If what is
// there is the same already, it is left untouched.
func (t *target) finish(groups []string) error {
	m := mark{Samples: int(t.samples.Load()), Groups: groups}
	if groups != nil {
		m.Samples = 0
	}
	if t.inPlace() {
		return nil // others may have files here: it is not ours to mark
	}
	if t.old && t.written.Load() == 0 && t.same(m) {
		return nil
	}
	if err := t.takeReused(); err != nil {
		return err
	}
	if err := writeMark(t.dir, m); err != nil {
		return err
	}
	if !t.old {
		return os.Rename(t.dir, t.path)
	}
	return swap(t.dir, t.path)
}

// same reports whether the old folder has the same mark and no file more.
func (t *target) same(m mark) bool {
	old, err := readMark(t.path)
	if err != nil || old.Samples != m.Samples || len(old.Groups) != len(m.Groups) {
		return false
	}
	files := 0
	err = filepath.WalkDir(t.path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != markName {
			files++
		}
		return err
	})
	return err == nil && files == len(t.reused)
}
