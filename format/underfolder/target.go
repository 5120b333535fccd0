package underfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/format/internal/filecopy"
	"github.com/larder-data/larder/format/internal/taken"
	"github.com/larder-data/larder/format/output"
)

// target is the directory to write: the requested one, or a hidden one next to it that
// replaces it when complete.
type target struct {
	path         string            // requested
	dir          string            // written
	staged       *output.Directory // at dir; nil in place
	left         []string          // directories of killed writers: their files need not be written again
	root         *os.Root          // in place: the directory, which no link leads out of
	old          os.FileInfo       // the directory at path, for comparison; nil if there was none
	replaceFiles bool              // in place: existing files may be replaced
	written      atomic.Int64      // number of files
	samples      atomic.Int64
	complete     bool
	warned       sync.Once // that links cannot be made

	mu     sync.Mutex
	reused []string // files of path that are already right
	last   string   // the file written last
}

// newTarget creates the hidden directory. What killed writers left stays until the
// directory is complete, so that the writer can resume.
func newTarget(path string, old os.FileInfo) (*target, error) {
	staged, err := output.ResumeDir(path)
	if err != nil {
		return nil, err
	}
	return &target{path: path, dir: staged.Dir, staged: staged, left: staged.Left(), old: old}, nil
}

// inPlace reports whether files are written one by one into the requested directory.
func (t *target) inPlace() bool { return t.staged == nil }

// close ends the writing. If the writer was canceled, unfinished output stays for the
// next one to resume.
func (t *target) close(ctx context.Context) {
	if t.inPlace() {
		t.root.Close()
		return
	}
	if ctx.Err() != nil && !t.complete {
		t.staged.Leave()
		return
	}
	t.staged.Discard()
}

// reuse reuses an existing file of a relative name, if same reports that it is right.
// The file is from the directory to replace, from the one written in place, or from what
// a killed writer left.
func (t *target) reuse(name string, same func(path string) bool) (bool, error) {
	switch {
	case t.inPlace():
		return t.replaceFiles && same(filepath.Join(t.path, name)), nil
	case t.old != nil && inDirs(t.path, name) && same(filepath.Join(t.path, name)):
		t.mu.Lock()
		defer t.mu.Unlock()
		t.reused = append(t.reused, name)
		return true, nil
	}
	for _, dir := range t.left {
		if left := filepath.Join(dir, name); inDirs(dir, name) && same(left) {
			t.written.Add(1)
			return true, os.Rename(left, filepath.Join(t.dir, name))
		}
	}
	return false, nil
}

// inDirs reports whether a relative name is reached from root without links.
func inDirs(root, name string) bool {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(root, dir)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// takeReused adds the reused files to the new directory. They are hard links if the file
// system supports them, because the old directory is removed.
func (t *target) takeReused() error {
	for _, name := range t.reused {
		was, dst := filepath.Join(t.path, name), filepath.Join(t.dir, name)
		if os.Link(was, dst) == nil {
			continue
		}
		if _, _, err := filecopy.Reflink.File(dst, was); err != nil {
			return err
		}
	}
	return nil
}

// put calls create to create one file of a relative name at an unused path. In place,
// the file appears when it is complete.
func (t *target) put(name string, create func(path string) error) error {
	n := t.written.Add(1)
	dst := filepath.Join(t.dir, name)
	if !t.inPlace() {
		t.mu.Lock()
		t.last = name
		t.mu.Unlock()
		err := create(dst)
		if errors.Is(err, fs.ErrExist) {
			return taken.Error("%s already exists: the file system ignores case or Unicode form; rename an item", dst)
		}
		return err
	}
	unfinished := filepath.Join(filepath.Dir(dst), unfinishedName(n))
	err := create(unfinished)
	if err == nil {
		err = t.publish(filepath.Join(filepath.Dir(name), filepath.Base(unfinished)), name)
	}
	if err != nil {
		os.Remove(unfinished)
	}
	if errors.Is(err, fs.ErrExist) {
		return alreadyThere(dst)
	}
	return err
}

// publish moves a complete file to its name in the directory.
func (t *target) publish(from, name string) error {
	if t.replaceFiles {
		return t.root.Rename(from, name)
	}
	err := t.root.Link(from, name)
	switch {
	case err == nil:
		return t.root.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// A file system without links needs two steps.
	if _, err := t.root.Lstat(name); err == nil {
		return fs.ErrExist
	}
	return t.root.Rename(from, name)
}

func alreadyThere(file string) error {
	return taken.Error("%s already exists; set overwrite: overwrite-files to replace files", file)
}

// finish marks the directory as complete and moves it to its path. If the existing one
// is the same, it is not changed.
func (t *target) finish(groups []string) (err error) {
	defer func() { t.complete = err == nil }()
	if t.inPlace() {
		return nil // other processes may have files here
	}
	m := mark{Samples: int(t.samples.Load()), Groups: groups}
	if t.old != nil && t.written.Load() <= 1 && t.same(m) {
		if done, err := t.replaceOne(); done || err != nil {
			return err
		}
	}
	if err := t.takeReused(); err != nil {
		return err
	}
	if err := m.listFiles(t.dir); err != nil {
		return err
	}
	for _, g := range groups {
		if err := markFiles(filepath.Join(t.dir, g)); err != nil {
			return err
		}
	}
	if err := writeMark(t.dir, m); err != nil {
		return err
	}
	if t.old == nil {
		return t.staged.Publish(nil)
	}
	return t.staged.Publish(t.replaceable)
}

// replaceable checks the old directory again before it is removed: it must be the
// directory checked before, and still contain only a dataset.
func (t *target) replaceable(old string) error {
	info, err := os.Lstat(old)
	if err != nil {
		return err
	}
	if !os.SameFile(info, t.old) {
		return fmt.Errorf("%s was replaced by another directory during the run and is unchanged; run again", t.path)
	}
	return looksOurs(old, t.path)
}

// same reports whether the old directory has the same mark, and as many files as the new
// one.
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
	return err == nil && files == len(t.reused)+int(t.written.Load())
}

// replaceOne updates the old directory if only the content of one file differs: it
// replaces that file atomically, and the other files keep their states. done is false if
// more differs.
func (t *target) replaceOne() (done bool, err error) {
	if t.written.Load() == 0 {
		return true, nil
	}
	root, err := os.OpenRoot(t.path)
	if err != nil {
		return false, err
	}
	defer root.Close()
	if info, err := root.Lstat(t.last); err != nil || !info.Mode().IsRegular() || !inDirs(t.path, t.last) {
		return false, nil // names also differ
	}
	if info, err := root.Stat("."); err != nil || !os.SameFile(info, t.old) {
		return false, err // reported when the directory is published
	}
	dir, err := root.Open(filepath.Dir(t.last))
	if err != nil {
		return false, err
	}
	defer dir.Close()
	err = t.staged.PublishFile(t.last, dir)
	return err == nil, ignore(err, errors.ErrUnsupported)
}

// ignore returns err unless it is other.
func ignore(err, other error) error {
	if errors.Is(err, other) {
		return nil
	}
	return err
}
