package rows

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/format/internal/taken"
	"github.com/larder-data/larder/format/output"
)

// shardDigits is the number of digits in shard names, so that they sort in numeric
// order.
const shardDigits = 6

// A shardSet is the shards in a directory: PREFIX000000ENDING and so on.
type shardSet struct {
	files    output.Files
	prefixes []string
	ending   string
	had      map[string][]int // for each prefix, the numbers of existing shards
}

// write writes a shard, with a prefix by its index.
func (s *shardSet) write(ctx context.Context, prefix, n int, how output.Overwrite, write func(io.Writer) error) (int64, error) {
	if len(strconv.Itoa(n)) > shardDigits {
		return 0, fmt.Errorf("more than %d files are needed; raise shard-bytes or shard-samples", n)
	}
	return s.files.Write(ctx, s.name(s.prefixes[prefix], n), how, write)
}

func (s *shardSet) name(prefix string, n int) string {
	return fmt.Sprintf("%s%0*d%s", prefix, shardDigits, n, s.ending)
}

// split returns the prefix and the number in the name of a shard, or false for other
// names.
func (s *shardSet) split(name string) (prefix string, n int, ok bool) {
	name, ok = strings.CutSuffix(name, s.ending)
	if !ok || len(name) < shardDigits {
		return "", 0, false
	}
	prefix, digits := name[:len(name)-shardDigits], name[len(name)-shardDigits:]
	n, err := strconv.Atoi(digits)
	return prefix, n, err == nil && strings.Trim(digits, "0123456789") == "" && slices.Contains(s.prefixes, prefix)
}

// look finds existing shards, which are an error unless they may be replaced, because
// surplus ones would be read as part of the new output. It removes what killed writers
// left.
func (s *shardSet) look(ctx context.Context, how output.Overwrite) error {
	s.had = map[string][]int{}
	first := ""
	err := s.files.Names(ctx, func(name string) {
		if prefix, n, ok := s.split(name); ok {
			s.had[prefix] = append(s.had[prefix], n)
			first = name
		}
	})
	switch {
	case err != nil:
		return err
	case how != output.Replace && first != "":
		return taken.Error("%s already exists; remove it and the other shards, or set overwrite: replace", s.files.Path(first))
	}
	return s.files.Tidy(s.named)
}

// named reports whether a name is that of a shard.
func (s *shardSet) named(name string) bool {
	_, _, ok := s.split(name)
	return ok
}

// drop removes the existing shards of a prefix beyond the n that were written.
func (s *shardSet) drop(ctx context.Context, prefix, n int) error {
	for _, old := range s.had[s.prefixes[prefix]] {
		if old < n {
			continue
		}
		if err := s.files.Remove(ctx, s.name(s.prefixes[prefix], old)); err != nil {
			return err
		}
	}
	return nil
}
