package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/stream"
)

// Save writes files into a directory under their names, and returns the paths. A file
// appears only when it is complete. With [output.Forbid] as how, an existing file is an
// error. With [output.Replace], a file with the same content stays untouched, so a
// stream may be resumed from an earlier state. Save refuses names that lead out of the
// directory, also through links, and the input file itself.
func Save(s stream.Stream[File], dir string, how output.Overwrite) stream.Stream[string] {
	return stream.MapAs(s, "save", func(ctx context.Context, f File) (string, error) {
		path, err := place(dir, f)
		if err != nil {
			return "", err
		}
		_, err = output.WriteFile(ctx, path, how, func(to io.Writer) error {
			r, err := f.open(ctx)
			if err != nil {
				return err
			}
			_, err = io.Copy(to, r)
			return errors.Join(err, r.Close())
		})
		return path, err
	})
}

// place returns the path under which a file is written.
func place(dir string, f File) (string, error) {
	name := filepath.FromSlash(f.Name)
	if !filepath.IsLocal(name) || name == "." || strings.ContainsAny(f.Name, "\\\x00") {
		return "", fmt.Errorf("%.200q cannot be the name of a file in %s; give it another", f.Name, dir)
	}
	path := filepath.Join(dir, name)
	if !pathguard.Inside(pathguard.Resolve(dir), pathguard.Resolve(path)) {
		return "", fmt.Errorf("%.200q leads out of the directory %s by a link; remove that", f.Name, dir)
	}
	if f.path != "" {
		from, err := os.Stat(f.path)
		to, terr := os.Stat(path)
		if err == nil && terr == nil && os.SameFile(from, to) {
			return "", fmt.Errorf("%s would be written over itself; save to another directory", f.path)
		}
	}
	return path, nil
}
