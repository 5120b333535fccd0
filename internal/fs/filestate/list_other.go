//go:build !linux

package filestate

import (
	"os"
	"path/filepath"

	"github.com/larder-data/larder/key"
)

// list adds the files in a directory, and returns the directories in it. It follows
// links.
func list(found []entry, dir string) (_ []entry, dirs []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		switch {
		case err != nil && e.Type()&os.ModeSymlink != 0:
			found = append(found, entry{name: e.Name(), lost: true})
		case os.IsNotExist(err): // it was removed just now
		case err != nil:
			return nil, nil, err
		case info.IsDir():
			dirs = append(dirs, e.Name())
		default:
			found = append(found, entry{name: e.Name(), stat: key.StatOf(info)})
		}
	}
	return found, dirs, nil
}

// Files lists the regular files in a directory, without links and subdirectories.
func Files(dir string, file func(name string, s key.FileStat)) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			file(e.Name(), key.StatOf(info))
		}
	}
	return err
}
