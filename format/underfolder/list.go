// Package underfolder reads and writes datasets in the directory format of
// Pipelime and Pipewine:
//
//	<root>/<key>.<ext>               items shared by every sample
//	<root>/data/<index>_<key>.<ext>  items of one sample
//
// An index is decimal digits, zero-filled to one width when written. A key is
// the string up to the first dot, an extension the string after the last one.
// The number of samples is the highest index plus one; samples without files of
// their own have only the shared items. If a sample and the root have an item of
// the same key, the sample's takes precedence.
//
// A file .larder.json in the root, which other readers ignore, marks a
// completely written directory and has its number of samples.
package underfolder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/entries"
)

// dataDir has the items of samples.
const dataDir = "data"

// listing is the names in a directory. It takes 16 bytes a file.
type listing struct {
	*dataset.Listing
	root    string
	shared  []string // names of the root files that are items
	files   []file   // by index, then by name
	rests   []string // the distinct ends of names, after "<index>_"
	samples int
	skipped []string // a few names that are not items
	odd     int      // number of names that are not items
}

// file is the name of an item of one sample: its index, the number of digits, and the
// end after "_".
type file struct {
	index int64
	rest  uint32
	width uint8
}

func (l *listing) name(f file) string {
	return fmt.Sprintf("%0*d_%s", f.width, f.index, l.rests[f.rest])
}

// splitName returns the key and the extension in the end of a name.
func splitName(rest string) (key, ext string) {
	key, _, _ = strings.Cut(rest, ".")
	return key, strings.TrimPrefix(filepath.Ext(rest), ".")
}

// list lists a directory.
func list(root string) (*listing, error) {
	l := &listing{Listing: dataset.NewListing(), root: root}
	if err := l.note(); err != nil {
		return nil, err
	}
	if err := l.listRoot(); err != nil {
		return nil, err
	}
	if err := l.listData(); err != nil {
		return nil, err
	}
	if err := l.Check(); err != nil {
		return nil, err
	}
	slices.SortFunc(l.files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(l.rests[a.rest], l.rests[b.rest]))
	})
	if err := l.checkTwice(); err != nil {
		return nil, err
	}
	return l, l.count()
}

// note records the existing directories; listing them reports errors.
func (l *listing) note() error {
	for _, dir := range []string{l.root, filepath.Join(l.root, dataDir)} {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file, not a directory; for other formats name one, such as jsonl, csv or images", dir)
		}
		if err := l.Dir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l *listing) listRoot() error {
	found := false
	err := entries.Each(l.root, func(e fs.DirEntry) {
		key, ext := splitName(e.Name())
		switch {
		case e.Name() == dataDir:
			found = isDir(filepath.Join(l.root, dataDir))
		case e.IsDir():
		case key == "": // hidden
		case ext == "" || !isFile(e):
			l.skip(e.Name())
		default:
			l.shared = append(l.shared, e.Name())
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no directory %s", l.root)
	}
	if err != nil {
		return err
	}
	slices.Sort(l.shared)
	if found {
		return nil
	}
	if m, err := readMark(l.root); err == nil && len(m.Groups) > 0 {
		return fmt.Errorf("%s has several datasets; choose one of the subdirectories %s", l.root, strings.Join(m.Groups, ", "))
	}
	return fmt.Errorf("%s is not an underfolder: it has no directory %s", l.root, dataDir)
}

// isDir follows links.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (l *listing) listData() error {
	ids := map[string]uint32{}
	return entries.Each(filepath.Join(l.root, dataDir), func(e fs.DirEntry) {
		if e.IsDir() {
			return
		}
		digits, rest, _ := strings.Cut(e.Name(), "_")
		key, ext := splitName(rest)
		index, ok := parseIndex(digits)
		if !ok || key == "" || ext == "" || !isFile(e) {
			l.skip(dataDir + "/" + e.Name())
			return
		}
		id, ok := ids[rest]
		if !ok {
			id = uint32(len(l.rests))
			ids[strings.Clone(rest)] = id
			l.rests = append(l.rests, strings.Clone(rest))
		}
		l.files = append(l.files, file{index: index, rest: id, width: uint8(len(digits))})
	})
}

// parseIndex parses decimal digits and nothing else.
func parseIndex(digits string) (int64, bool) {
	if digits == "" || len(digits) > 18 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// isFile reports whether e can be read as a file. Links are followed when they are read.
func isFile(e fs.DirEntry) bool {
	return e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0
}

func (l *listing) skip(name string) {
	const few = 5
	if len(l.skipped) < few {
		l.skipped = append(l.skipped, name)
	}
	l.odd++
}

// checkTwice refuses a directory in which a sample has an item twice, because either
// could be meant.
func (l *listing) checkTwice() error {
	key := func(f file) string { k, _ := splitName(l.rests[f.rest]); return k }
	for i := 1; i < len(l.files); i++ {
		a, b := l.files[i-1], l.files[i]
		if a.index == b.index && key(a) == key(b) {
			return fmt.Errorf("%s: sample %d has item %s twice, in %s and %s; remove one", l.root, a.index, key(a), l.name(a), l.name(b))
		}
	}
	for i := 1; i < len(l.shared); i++ {
		a, _ := splitName(l.shared[i-1])
		if b, _ := splitName(l.shared[i]); a == b {
			return fmt.Errorf("%s: shared item %s occurs twice, in %s and %s; remove one", l.root, a, l.shared[i-1], l.shared[i])
		}
	}
	return nil
}

// maxMarked is the largest accepted number of samples without files of their own.
const maxMarked = 1 << 24

// count sets the number of samples. A single huge index among few files is treated as a
// mistake, not as a dataset of mostly empty samples.
func (l *listing) count() error {
	mark, _ := readMark(l.root) // a damaged mark is ignored
	if mark.Samples > max(maxMarked, 16*len(l.files)) {
		return fmt.Errorf("%s: %s declares %d samples, but there are %d files; remove it", l.root, markName, mark.Samples, len(l.files))
	}
	if len(l.files) > 0 {
		last := l.files[len(l.files)-1]
		if last.index >= max(int64(mark.Samples), 16*int64(len(l.files))+1024) {
			return fmt.Errorf("%s: the index of %s gives %d samples for only %d files; rename or remove it", l.root, l.name(last), last.index+1, len(l.files))
		}
		l.samples = int(last.index) + 1
	}
	l.samples = max(l.samples, mark.Samples)
	return nil
}
