package underfolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/format/internal/entries"
	"github.com/larder-data/larder/format/internal/filecopy"
)

// markName is a hidden file, so that other readers ignore it.
const markName = ".larder.json"

// mark identifies a completely written directory.
type mark struct {
	Format  string   `json:"format"` // "underfolder"
	Version int      `json:"version"`
	Samples int      `json:"samples"`
	Groups  []string `json:"groups,omitempty"` // directories with one dataset each
	Shared  []string `json:"shared"`           // files of items that all samples share; null if not known
	// Items are the ends of names of sample files, after the index; null if not known.
	Items []string `json:"items"`
}

// maxItems is the largest number of ends that a mark lists; with more it lists none.
const maxItems = 1000

func readMark(dir string) (mark, error) {
	b, err := os.ReadFile(filepath.Join(dir, markName))
	if err != nil {
		return mark{}, err
	}
	var m mark
	if err := json.Unmarshal(b, &m); err != nil || m.Format != "underfolder" || m.Version != 1 || m.Samples < 0 || int64(m.Samples) > 1<<40 {
		return mark{}, fmt.Errorf("%s in %s was not written by larder", markName, dir)
	}
	return m, nil
}

// listFiles records the files in a directory that no other process writes.
func (m *mark) listFiles(dir string) error {
	return errors.Join(m.listShared(dir), m.listItems(filepath.Join(dir, dataDir)))
}

func (m *mark) listItems(dir string) error {
	ends := make(map[string]bool)
	err := entries.Each(dir, func(e fs.DirEntry) {
		if _, end, ok := strings.Cut(e.Name(), "_"); ok && !isUnfinished(e.Name()) && len(ends) <= maxItems {
			ends[end] = true
		}
	})
	if len(ends) <= maxItems {
		m.Items = slices.Sorted(maps.Keys(ends))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no sample has an item of its own
	}
	return err
}

// wrote reports whether a file of a sample may be one that was written.
func (m *mark) wrote(index int64, end string) bool {
	return m.Items == nil || index < int64(m.Samples) && slices.Contains(m.Items, end)
}

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

// markFiles adds the files of a complete directory to its mark.
func markFiles(dir string) error {
	m, err := readMark(dir)
	if err != nil {
		return err
	}
	if err := m.listFiles(dir); err != nil {
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
	unfinished := filepath.Join(dir, markName+".new") // a killed writer may have left it
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := filecopy.Create(unfinished, append(b, '\n')); err != nil {
		return err
	}
	return os.Rename(unfinished, filepath.Join(dir, markName))
}
