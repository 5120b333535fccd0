// Package images reads folders of image files as datasets: each file is a
// sample with the one item "image".
package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterSource("images", "Reads a folder of image files, each a sample with the item image, ordered by path.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return Open(ctx, env.Path(p.Path), p.Recursive, env.Files)
		},
		func(env *component.Env, p Source) []string { return []string{env.Path(p.Path)} })
}

// Source names a folder of images.
type Source struct {
	Path      component.Path `param:"path,required" doc:"the folder"`
	Recursive bool           `param:"recursive" doc:"read the folders inside as well"`
}

// extensions are those of files taken for images, in lower case.
var extensions = []string{"bmp", "gif", "jfif", "jpe", "jpeg", "jpg", "png", "tif", "tiff", "webp"}

// Open lists the images in a folder, ordered by the names along their paths;
// none is read before it is asked for. Hidden files and folders are passed
// over. memo, which may be nil, remembers digests of files.
func Open(ctx context.Context, root string, recursive bool, memo key.Memo) (component.Samples, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case path == root:
			return nil
		case d.IsDir() && (!recursive || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case isImage(d):
			paths = append(paths, path)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", root)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(paths, comparePaths)
	return dataset.Func(len(paths), func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "image", Item: dataset.File(paths[i], memo)}), nil
	}), nil
}

func isImage(d fs.DirEntry) bool {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(d.Name()), "."))
	file := d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0
	return file && !strings.HasPrefix(d.Name(), ".") && slices.Contains(extensions, ext)
}

// comparePaths orders by path elements, so that a/b comes before a-b/c.
func comparePaths(a, b string) int {
	sep := string(filepath.Separator)
	return slices.Compare(strings.Split(a, sep), strings.Split(b, sep))
}
