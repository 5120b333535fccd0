package images

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/entries"
)

// listing holds the names of the images in a directory. It takes 16 bytes a file and the
// length of its name.
type listing struct {
	*dataset.Listing
	root  string
	dirs  []string // from root; the first is root itself, ""
	files []name   // in order
	names []byte   // of all files, without separators

	wanted, excluded func(path string) bool // of paths from root, with slashes
}

// name is a range of names.
type name struct {
	start     uint64
	directory uint32
	length    uint16
}

func (l *listing) text(n name) []byte { return l.names[n.start:][:n.length] }

func (l *listing) path(i int) string {
	n := l.files[i]
	return filepath.Join(l.root, l.dirs[n.directory], string(l.text(n)))
}

// within returns the path of file i from the root, with slashes.
func (l *listing) within(i int) string {
	n := l.files[i]
	return path.Join(filepath.ToSlash(l.dirs[n.directory]), string(l.text(n)))
}

// label returns the first directory between the root and file i, or "".
func (l *listing) label(i int) string {
	first, _, _ := strings.Cut(filepath.ToSlash(l.dirs[l.files[i].directory]), "/")
	return first
}

// add lists one directory, given from the root, and its subdirectories. Entries are
// sorted by name at each level, so a/b comes before a-b/c. Hidden and excluded entries
// are skipped.
func (l *listing) add(ctx context.Context, directory string, recursive bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	id := uint32(len(l.dirs))
	l.dirs = append(l.dirs, directory)
	dir := filepath.Join(l.root, directory)
	if err := l.Dir(dir); err != nil {
		return err
	}
	var files []name
	var dirs []string
	err := entries.Each(dir, func(e fs.DirEntry) {
		within := path.Join(filepath.ToSlash(directory), e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."), l.excluded(within):
		case e.IsDir():
			if recursive {
				dirs = append(dirs, e.Name())
			}
		case l.wanted(within) && isFile(dir, e):
			files = append(files, name{uint64(len(l.names)), id, uint16(len(e.Name()))})
			l.names = append(l.names, e.Name()...)
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b name) int { return bytes.Compare(l.text(a), l.text(b)) })
	slices.Sort(dirs)
	l.files = slices.Grow(l.files, len(files))
	for len(files)+len(dirs) > 0 {
		if len(dirs) == 0 || len(files) > 0 && string(l.text(files[0])) < dirs[0] {
			l.files, files = append(l.files, files[0]), files[1:]
			continue
		}
		if err := l.add(ctx, filepath.Join(directory, dirs[0]), recursive); err != nil {
			return err
		}
		dirs = dirs[1:]
	}
	return nil
}

// isFile reports whether an entry is a file, or a link that does not lead to a
// directory. A dangling link is an error when it is read.
func isFile(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular()
}
