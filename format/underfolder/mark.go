package underfolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/format/output"
)

// markName is a hidden file, so that other readers pass over it.
const markName = ".larder.json"

// mark says that a folder was written completely.
type mark struct {
	Format  string   `json:"format"` // "underfolder"
	Version int      `json:"version"`
	Samples int      `json:"samples"`
	Groups  []string `json:"groups,omitempty"` // folders of a dataset each
	Shared  []string `json:"shared"`           // files of items that all samples share; null where that is not known
}

func readMark(dir string) (mark, error) {
	b, err := os.ReadFile(filepath.Join(dir, markName))
	if err != nil {
		return mark{}, err
	}
	var m mark
	if err := json.Unmarshal(b, &m); err != nil || m.Format != "underfolder" || m.Version != 1 || m.Samples < 0 || int64(m.Samples) > 1<<40 {
		return mark{}, fmt.Errorf("%s in %s is not a mark of this program", markName, dir)
	}
	return m, nil
}

// listShared notes the files at the top of a folder in which nobody else writes.
func (m *mark) listShared(dir string) error {
	entries, err := os.ReadDir(dir)
	m.Shared = []string{}
	for _, e := range entries {
		if isFile(e) && e.Name()[0] != '.' {
			m.Shared = append(m.Shared, e.Name())
		}
	}
	return err
}

// markShared adds the files at the top of a complete folder to its mark.
func markShared(dir string) error {
	m, err := readMark(dir)
	if err != nil {
		return err
	}
	if err := m.listShared(dir); err != nil {
		return err
	}
	return writeMark(dir, m)
}

func writeMark(dir string, m mark) error {
	m.Format, m.Version = "underfolder", 1
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	unfinished := filepath.Join(dir, markName+".new") // may be there of a killed writer
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := output.CreateFile(unfinished, append(b, '\n')); err != nil {
		return err
	}
	return os.Rename(unfinished, filepath.Join(dir, markName))
}
