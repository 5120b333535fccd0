package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

// Files creates items of the files that fields name.
type Files struct {
	Items   map[string]string // item to field
	Outside bool              // files may be outside the directory of the file that names them
	Memo    key.Memo          // caches digests of files; may be nil
	Listing *dataset.Listing  // state of the files that name them; may be nil
}

// Fields returns the items of a row of the file at path, by name. name returns the
// string in a field, or false if the row lacks it: then there is no such item.
func (f Files) Fields(path string, name func(field string) (string, bool, error)) ([]dataset.Field, error) {
	fields := make([]dataset.Field, 0, len(f.Items))
	for _, k := range slices.Sorted(maps.Keys(f.Items)) {
		to, ok, err := name(f.Items[k])
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Items[k], err)
		}
		if !ok {
			continue
		}
		if to, err = f.resolve(path, to); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Items[k], err)
		}
		fields = append(fields, dataset.Field{Key: k, Item: f.Listing.File(to, f.Memo)})
	}
	return fields, nil
}

// resolve returns the path of a file that is named in the one at path.
func (f Files) resolve(path, name string) (string, error) {
	local := filepath.IsLocal(filepath.FromSlash(name))
	switch {
	case name == "":
		return "", fmt.Errorf("the file name is missing")
	case !local && !f.Outside:
		return "", fmt.Errorf("%q is outside the directory %s; set outside: true to allow it", name, filepath.Dir(path))
	case filepath.IsAbs(name):
		return filepath.Clean(name), nil
	}
	dir := filepath.Dir(path)
	if !f.Outside && linkedOut(dir, filepath.FromSlash(name)) {
		return "", fmt.Errorf("%q is outside the directory %s, through a link; set outside: true to allow it", name, dir)
	}
	return filepath.Join(dir, filepath.FromSlash(name)), nil
}

// linkedOut reports whether a link in name leads out of the directory.
func linkedOut(dir, name string) bool {
	at := dir
	for part := range strings.SplitSeq(filepath.Clean(name), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err != nil {
			return false // reported when it is read
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return !pathguard.Inside(pathguard.Resolve(dir), pathguard.Resolve(filepath.Join(dir, name)))
		}
	}
	return false
}

// Named returns a function that lists the files that contain the samples of a source. It
// skips what cannot be read, as the reader reports that.
func Named(open func(ctx context.Context) (component.Samples, error)) func(context.Context, func(path string) error) error {
	return func(ctx context.Context, yield func(path string) error) error {
		ds, err := open(ctx)
		if err != nil {
			return context.Cause(ctx)
		}
		for i := range ds.Len() {
			s, _ := ds.At(ctx, i)
			for f := range s.Fields() {
				file, ok := f.Item.Origin().(*dataset.FileOrigin)
				if !ok {
					continue
				}
				if err := yield(file.Path()); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// CheckFiles refuses two items with one field, and file names in a file at a URL, which
// cannot refer to local files.
func CheckFiles(path component.Path, of map[string]string) error {
	if objectstore.Is(string(path)) && len(of) > 0 {
		return errors.New("files is not supported for a URL; write an archive (webdataset), or write to this machine")
	}
	items := map[string]string{} // by field
	for _, item := range slices.Sorted(maps.Keys(of)) {
		if other, taken := items[of[item]]; taken {
			return fmt.Errorf("files: items %s and %s both map to field %q; rename one", other, item, of[item])
		}
		items[of[item]] = item
	}
	return nil
}

// Name is the reverse: it returns the name of an item's file in the file at path.
func Name(path string, it *dataset.Item) (string, error) {
	file, ok := it.Origin().(*dataset.FileOrigin)
	if !ok {
		return "", component.Unfit(fmt.Errorf("the item is not a file; write it to a directory first"))
	}
	if !utf8.ValidString(file.Path()) {
		return "", component.Unfit(fmt.Errorf("file name %q is not UTF-8; rename the file", file.Path()))
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file.Path())
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(dir, to)
	if err != nil {
		return filepath.ToSlash(to), nil //nolint:nilerr // on another volume: by its whole path
	}
	return filepath.ToSlash(rel), nil
}
