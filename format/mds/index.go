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

// maxIndex bounds index.json.
const maxIndex = 256 << 20

func readIndex(path string) ([]shard, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing; give the directory of an MDS dataset", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxIndex {
		return nil, fmt.Errorf("%s is not a file, or exceeds %d bytes", path, maxIndex)
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
		return nil, fmt.Errorf("%s is not JSON written by Mosaic Streaming", path)
	}
	if index.Version != 2 {
		return nil, fmt.Errorf("%s has version %d; only version 2 is supported", path, index.Version)
	}
	for i := range index.Shards {
		if err := index.Shards[i].valid(); err != nil {
			return nil, fmt.Errorf("%s: shard %d: %w", path, i, err)
		}
	}
	return index.Shards, nil
}

// maxSamples bounds the samples of a shard, whose offsets have 32 bits.
const maxSamples = 1 << 30

func (s *shard) valid() error {
	switch {
	case s.Version != 2 || s.Format != "mds":
		return fmt.Errorf("format %q, version %d is not supported; expected mds, version 2", s.Format, s.Version)
	case s.Samples < 0 || s.Samples > maxSamples || s.Raw.Bytes < 0:
		return errors.New("damaged")
	case len(s.Names) != len(s.Encodings) || len(s.Names) != len(s.Sizes):
		return errors.New("the numbers of names, encodings and sizes differ")
	case !output.SafeName(s.Raw.Basename) || s.Packed.Basename != "" && !output.SafeName(s.Packed.Basename):
		return fmt.Errorf("%q or %q is not a file name in its directory", s.Raw.Basename, s.Packed.Basename)
	}
	names := map[string]bool{}
	for k, n := range s.Names {
		if names[n] {
			return fmt.Errorf("two columns are named %s; rename one", display.Name(n))
		}
		if names[n] = true; s.Sizes[k] != nil && *s.Sizes[k] < 0 {
			return errors.New("damaged")
		}
	}
	return nil
}
