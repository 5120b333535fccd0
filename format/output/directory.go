package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/internal/fs/cleanup"
	"github.com/larder-data/larder/internal/fs/regularfile"
)

// A Directory is a pending directory next to its final path. Its methods may be called from
// one goroutine at a time.
type Directory struct {
	Dir  string // the pending directory
	path string
	left []stale
	lock io.Closer // on Dir; held while the writer lives

	remain *cleanup.Remain // if no later writer resumes from it
}

// StageDir creates a pending directory for a path, and removes what killed writers of
// that path left.
func StageDir(path string) (*Directory, error) {
	if err := tidy(path); err != nil {
		return nil, err
	}
	f, err := stageDir(path, nil)
	if err == nil {
		f.remain = cleanup.Add(func() error { return os.RemoveAll(f.Dir) })
	}
	return f, err
}

// ResumeDir is [StageDir] for writers that resume from what killed writers left:
// see [Directory.Left].
func ResumeDir(path string) (*Directory, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	left, err := takeStale(path)
	if err != nil {
		return nil, err
	}
	return stageDir(path, left)
}

func stageDir(path string, left []stale) (*Directory, error) {
	f := &Directory{path: path, left: left}
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

// Left lists the directories that killed writers left. Their files may be moved into
// this one; [Directory.Discard] removes the rest.
func (f *Directory) Left() []string {
	paths := make([]string, len(f.left))
	for i, s := range f.left {
		paths[i] = s.path
	}
	return paths
}

// Publish moves the directory to its path. With a nil replace, the path must not exist.
// Otherwise the existing directory is exchanged, atomically if the system can, and
// removed. Before that, replace is called with its new path: if it returns an error, the
// old directory is moved back.
func (f *Directory) Publish(replace func(old string) error) error {
	f.remain.Done()
	if replace == nil {
		return os.Rename(f.Dir, f.path)
	}
	return swap(f.Dir, f.path, replace)
}

// PublishFile atomically moves one file of the directory into another directory, and
// replaces one of that name. The error is [errors.ErrUnsupported] if the system cannot.
func (f *Directory) PublishFile(name string, dir *os.File) error {
	return moveInto(filepath.Join(f.Dir, name), dir, filepath.Base(name))
}

// Discard removes the directory unless it was published, and what killed writers left.
// The next writer removes what cannot be removed now.
func (f *Directory) Discard() {
	for _, s := range f.left {
		_ = s.remove()
	}
	f.left = nil
	_ = os.RemoveAll(f.Dir)
	f.remain.Done()
	f.Leave()
}

// Leave leaves the directory, and what killed writers left, to the next writer.
func (f *Directory) Leave() {
	for _, s := range f.left {
		s.lock.Close()
	}
	if f.lock != nil {
		f.lock.Close()
	}
}
