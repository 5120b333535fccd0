package mapper

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
)

// collect reads the items that the command left on a desk.
func (e *execution) collect(d desk) (dataset.Sample, error) {
	files, err := d.left()
	if err != nil {
		return dataset.Sample{}, err
	}
	var names []string
	for _, f := range files {
		name, err := e.itemOf(f, names)
		if err != nil {
			return dataset.Sample{}, err
		}
		names = append(names, name)
	}
	if missing := missing(e.Into, names); len(missing) > 0 {
		return dataset.Sample{}, fmt.Errorf("the command did not write item %s; write a file such as %s.json, or remove the item from into", strings.Join(missing, ", "), missing[0])
	}
	fields := make([]dataset.Field, len(files))
	buffer := int64(cmp.Or(e.Bytes, maxLeft))
	for i, f := range files {
		if fields[i], err = e.take(d, f, &buffer); err != nil {
			return dataset.Sample{}, err
		}
	}
	return dataset.NewSample(fields...), nil
}

// itemOf returns the name of an item that the command left, next to others.
func (e *execution) itemOf(f fs.DirEntry, others []string) (name string, err error) {
	shown := display.Name(f.Name())
	name, ext, ok := strings.Cut(f.Name(), ".")
	switch {
	case !f.Type().IsRegular():
		err = fmt.Errorf("the command wrote %s, which is not a regular file; write a regular file", shown)
	case !ok || ext == "":
		err = fmt.Errorf("the command wrote %s, a name without an extension; write a name such as %s", shown, display.Name(name+".json"))
	case !slices.Contains(e.Into, name):
		err = fmt.Errorf("the command wrote %s, but item %s is not in into: %s", shown, display.Name(name), strings.Join(e.Into, ", "))
	case slices.Contains(others, name):
		err = fmt.Errorf("the command wrote item %s with two extensions; write one file", name)
	}
	return name, err
}

// take reads an item that the command left. It returns an error if the item exceeds the
// remaining size limit, or cannot be read as its extension says.
func (e *execution) take(d desk, f fs.DirEntry, buffer *int64) (dataset.Field, error) {
	shown := display.Name(f.Name())
	info, err := f.Info()
	if err != nil {
		return dataset.Field{}, unreadable(shown, reason(err))
	}
	if *buffer -= info.Size(); *buffer < 0 {
		return dataset.Field{}, fmt.Errorf("the command wrote more than %d bytes, at %s; write less, or raise max-bytes", cmp.Or(e.Bytes, maxLeft), shown)
	}
	b, err := os.ReadFile(filepath.Join(d.out, f.Name()))
	if err != nil {
		return dataset.Field{}, unreadable(shown, reason(err))
	}
	name, ext, _ := strings.Cut(f.Name(), ".")
	it, err := dataset.CheckedBytes(ext, b)
	if err != nil {
		return dataset.Field{}, unreadable(shown, err)
	}
	return dataset.Field{Key: name, Item: it}, nil
}

func unreadable(shown string, err error) error {
	return fmt.Errorf("the command wrote %s, which cannot be read: %w", shown, err)
}

// left lists the files that the command left in its directory. It does not follow
// links.
func (d desk) left() ([]fs.DirEntry, error) {
	if err := d.intact(len(d.dirs)); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(d.out)
	if err != nil {
		return nil, fmt.Errorf("the command left %s unreadable: %w", d.dirs[len(d.dirs)-1].called, reason(err))
	}
	return files, nil
}

// intact returns an error if the command replaced or removed one of the first n
// directories.
func (d desk) intact(n int) error {
	for _, f := range d.dirs[:n] {
		info, err := os.Lstat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("the command removed %s; leave the directory and write files there", f.called)
		case err != nil:
			return fmt.Errorf("the command left %s unreadable: %w", f.called, reason(err))
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("the command replaced %s by a link; keep the directory and write files there", f.called)
		case !info.IsDir():
			return fmt.Errorf("the command replaced %s by a file; keep the directory and write files there", f.called)
		}
	}
	return nil
}

// reason removes the path from a file error, because that directory is gone when the
// error is read.
func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrPermission) {
		return &commandError{"permission denied", at}
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

func missing(names, there []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(there, name) })
}
