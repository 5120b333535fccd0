package mds

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/display"
)

// A shard is an entry of index.json.
type shard struct {
	Version   int
	Format    string
	Samples   int64
	Names     []string `json:"column_names"`
	Encodings []string `json:"column_encodings"`
	Sizes     []*int64 `json:"column_sizes"` // null for columns of variable size
	Raw       fileInfo `json:"raw_data"`
	Packed    fileInfo `json:"zip_data"`    // the name is "" if there is none
	Packing   string   `json:"compression"` // of Packed: a name, and a level after a colon
}

type fileInfo struct {
	Basename string
	Bytes    int64
}

// mostIndex bounds index.json.
const mostIndex = 256 << 20

func readIndex(path string) ([]shard, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s, which says what the shards are", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostIndex {
		return nil, fmt.Errorf("%s is no file, or larger than what is read (%d bytes)", path, mostIndex)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var index struct {
		Version int
		Shards  []shard
	}
	if err := json.Unmarshal(b, &index); err != nil {
		return nil, fmt.Errorf("%s cannot be read: it is not the JSON that Mosaic Streaming writes", path)
	}
	if index.Version != 2 {
		return nil, fmt.Errorf("%s has version %d, and only 2 is read", path, index.Version)
	}
	for i := range index.Shards {
		if err := index.Shards[i].valid(); err != nil {
			return nil, fmt.Errorf("%s: shard %d: %w", path, i, err)
		}
	}
	return index.Shards, nil
}

// mostSamples bounds the samples of a shard, whose offsets have 32 bits.
const mostSamples = 1 << 30

func (s *shard) valid() error {
	switch {
	case s.Version != 2 || s.Format != "mds":
		return fmt.Errorf("it has format %q, version %d; only mds, version 2, is read", s.Format, s.Version)
	case s.Samples < 0 || s.Samples > mostSamples || s.Raw.Bytes < 0:
		return errors.New("it is damaged")
	case len(s.Names) != len(s.Encodings) || len(s.Names) != len(s.Sizes):
		return errors.New("it has other numbers of names, encodings and sizes")
	case !output.SafeName(s.Raw.Basename) || s.Packed.Basename != "" && !output.SafeName(s.Packed.Basename):
		return fmt.Errorf("it names a file that is none in its folder: %q, %q", s.Raw.Basename, s.Packed.Basename)
	}
	names := map[string]bool{}
	for k, n := range s.Names {
		if names[n] {
			return fmt.Errorf("two columns are called %s", display.Name(n))
		}
		if names[n] = true; s.Sizes[k] != nil && *s.Sizes[k] < 0 {
			return errors.New("it is damaged")
		}
	}
	return nil
}
