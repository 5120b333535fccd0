package images

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/larder-data/larder/format/internal/filecopy"
	"github.com/larder-data/larder/key"
)

// markName is a hidden file, which readers of image directories skip.
const markName = ".larder-images.json"

// mark lists the files that a sink wrote, which it may replace.
type mark struct {
	Version int      `json:"version"`
	Files   []string `json:"files"` // with slashes, in order
}

func writeMark(dir string, files []string) error {
	b, err := json.Marshal(mark{1, files})
	if err != nil {
		return err
	}
	return filecopy.Create(filepath.Join(dir, markName), append(b, '\n'))
}

// checkOurs refuses to replace a directory with files that no sink wrote, because a
// mistyped path must not destroy the user's files. Errors name the directory as shown.
func checkOurs(dir, shown string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("refusing to replace %s: not a directory", shown))
	}
	var m mark
	b, err := os.ReadFile(filepath.Join(dir, markName))
	if err == nil && json.Unmarshal(b, &m) != nil || m.Version > 1 {
		return fmt.Errorf("refusing to replace %s: its %s is from another program", shown, markName)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if _, ours := slices.BinarySearch(m.Files, filepath.ToSlash(name)); name != markName && !ours || !e.Type().IsRegular() {
			return fmt.Errorf("refusing to replace %s: it has %s, not written by sink images; remove the directory to replace it", shown, name)
		}
		return nil
	})
}

// same reports whether a directory has the same files and content as one that was just
// written.
func same(ctx context.Context, dir, path string) bool {
	now, err := os.ReadFile(filepath.Join(dir, markName))
	was, werr := os.ReadFile(filepath.Join(path, markName))
	var m mark
	if err != nil || werr != nil || !bytes.Equal(now, was) || json.Unmarshal(now, &m) != nil {
		return false
	}
	for _, name := range m.Files {
		a, _, aerr := key.DigestFile(ctx, filepath.Join(dir, filepath.FromSlash(name)), nil)
		b, _, berr := key.DigestFile(ctx, filepath.Join(path, filepath.FromSlash(name)), nil)
		if aerr != nil || berr != nil || a != b {
			return false
		}
	}
	return true
}
