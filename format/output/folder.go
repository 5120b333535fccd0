package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/internal/fs/cleanup"
	"github.com/larder-data/larder/internal/fs/regularfile"
)

// A Folder is one that is being written beside its place. Its methods may be called
// from one goroutine at a time.
type Folder struct {
	Dir  string // that is written
	path string
	left []stale
	lock io.Closer // on Dir: says that its writer is alive

	remain *cleanup.Remain // of one that nobody goes on from
}

// StageFolder makes a folder that is to have a path, and removes what killed writers of
// that path left.
func StageFolder(path string) (*Folder, error) {
	if err := tidy(path); err != nil {
		return nil, err
	}
	f, err := stageFolder(path, nil)
	if err == nil {
		f.remain = cleanup.Add(func() error { return os.RemoveAll(f.Dir) })
	}
	return f, err
}

// ResumeFolder is [StageFolder] for who goes on from what killed writers left: see
// [Folder.Left].
func ResumeFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	left, err := takeStale(path)
	if err != nil {
		return nil, err
	}
	return stageFolder(path, left)
}

func stageFolder(path string, left []stale) (*Folder, error) {
	f := &Folder{path: path, left: left}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		f.Dir, err = os.MkdirTemp(filepath.Dir(path), stagingPattern(path))
	}
	if err == nil {
		f.lock, err = takeLock(f.Dir)
	}
	if err == nil {
		err = os.Chmod(f.Dir, 0o777&^regularfile.Mask())
	}
	if err != nil {
		f.Leave()
		if f.Dir != "" {
			err = errors.Join(err, os.Remove(f.Dir))
		}
		return nil, err
	}
	return f, nil
}

// Left lists the folders that killed writers left: what is in them may be moved into this
// one. What is not goes with [Folder.Discard].
func (f *Folder) Left() []string {
	paths := make([]string, len(f.left))
	for i, s := range f.left {
		paths[i] = s.path
	}
	return paths
}

// Publish gives the folder its path. Where replace is nil there must be nothing yet; else
// what is there is replaced, at one instant where the system can, and removed. replace is
// asked first about that, where it cannot be reached at its path any more: if it finds an
// error, the old one comes back.
func (f *Folder) Publish(replace func(old string) error) error {
	f.remain.Done()
	if replace == nil {
		return os.Rename(f.Dir, f.path)
	}
	return swap(f.Dir, f.path, replace)
}

// PublishFile moves one file of the folder into another folder, at one instant, where one
// of that name is replaced. It is [errors.ErrUnsupported] where the system cannot.
func (f *Folder) PublishFile(name string, folder *os.File) error {
	return moveInto(filepath.Join(f.Dir, name), folder, filepath.Base(name))
}

// Discard removes the folder unless it was published, and what killed writers left. What
// cannot be removed is left to the next writer.
func (f *Folder) Discard() {
	for _, s := range f.left {
		_ = s.remove()
	}
	f.left = nil
	_ = os.RemoveAll(f.Dir)
	f.remain.Done()
	f.Leave()
}

// Leave leaves the folder, and what killed writers left, to the next writer.
func (f *Folder) Leave() {
	for _, s := range f.left {
		s.lock.Close()
	}
	if f.lock != nil {
		f.lock.Close()
	}
}
