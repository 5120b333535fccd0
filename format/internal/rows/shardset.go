package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/entries"
	"github.com/larder-data/larder/format/internal/taken"
	"github.com/larder-data/larder/format/output"
)

// shardDigits is how many digits number a shard, so that names come in the order of the numbers.
const shardDigits = 6

// A shardSet is the shards in a folder: PREFIX000000ENDING and so on.
type shardSet struct {
	env      *component.Env
	folder   string
	prefixes []string
	ending   string
	had      map[string][]int // of each prefix: the numbers of those that were there
}

// path is where a shard is written, of a prefix by its place.
func (s *shardSet) path(ctx context.Context, prefix, n int) (string, error) {
	name := s.name(s.prefixes[prefix], n)
	if len(strconv.Itoa(n)) > shardDigits {
		return "", fmt.Errorf("there would be more than %d files, as many as can be numbered; say a larger shard-bytes or shard-samples", n)
	}
	return placeIn(ctx, s.env, s.folder, name)
}

func (s *shardSet) name(prefix string, n int) string {
	return fmt.Sprintf("%s%0*d%s", prefix, shardDigits, n, s.ending)
}

// split returns the prefix and the number of a shard of that name; false for what is none.
func (s *shardSet) split(name string) (prefix string, n int, ok bool) {
	name, ok = strings.CutSuffix(name, s.ending)
	if !ok || len(name) < shardDigits {
		return "", 0, false
	}
	prefix, digits := name[:len(name)-shardDigits], name[len(name)-shardDigits:]
	n, err := strconv.Atoi(digits)
	return prefix, n, err == nil && strings.Trim(digits, "0123456789") == "" && slices.Contains(s.prefixes, prefix)
}

// look finds the shards that are there, which are an error unless they may be replaced: if there
// were more of them, the rest would be taken for a part of what is written. What killed writers
// left goes.
func (s *shardSet) look(how output.Overwrite) error {
	s.had = map[string][]int{}
	first := ""
	err := entries.Each(s.folder, func(e fs.DirEntry) {
		if prefix, n, ok := s.split(e.Name()); ok && !e.IsDir() {
			s.had[prefix] = append(s.had[prefix], n)
			first = e.Name()
		}
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case how != output.Replace && first != "":
		return taken.Error("%s is already there; remove it and the others like it, or say overwrite: replace", filepath.Join(s.folder, first))
	}
	return output.TidyIn(s.folder, func(name string) bool {
		_, _, ok := s.split(name)
		return ok
	})
}

// drop removes the shards of a prefix that were there beyond the n that were written.
func (s *shardSet) drop(ctx context.Context, prefix, n int) error {
	for _, old := range s.had[s.prefixes[prefix]] {
		if old < n {
			continue
		}
		at, err := placeIn(ctx, s.env, s.folder, s.name(s.prefixes[prefix], old))
		if err != nil {
			return err
		}
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
