package webdataset

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/display"
)

func init() {
	component.RegisterSink("webdataset", "Writes a dataset to a tar archive for WebDataset: a member KEY.ITEM.EXT for each item. An input with several outputs is written to archives NAME.tar in a directory. An archive appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the archives to write.
type Sink struct {
	Path         component.Path   `param:"path,required" doc:"the archive to write, or for several outputs the directory; also a URL: s3://"`
	Overwrite    output.Overwrite `param:"overwrite,how" doc:"what to do with an existing archive: fail (forbid), or replace it (replace)" default:"forbid" enum:"forbid|replace"`
	ShardBytes   component.Size   `param:"shard-bytes" doc:"maximum size of a file, such as 256MiB: the path is then a directory of files, in which 000000.tar has as many samples as fit, followed by 000001.tar and so on"`
	ShardSamples int              `param:"shard-samples" doc:"maximum number of samples in a file; with shard-bytes, the limit that is reached first counts; 0 means no limit" default:"0"`
}

// Delegate returns the files to write.
func (s Sink) Delegate() any { return s.target() }

func (s Sink) target() rows.Target {
	return rows.Target{
		Path: s.Path, Overwrite: s.Overwrite, Ending: ".tar", Shards: rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples},
		Plain: "compressed archives are not written; use a name that ends with .tar",
	}
}

// Write writes a dataset. The key of a sample is its item __key__, or its number.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	in.Names = inOrder(in.Names)
	return rows.Write(ctx, env, s.target(), in, func(_ context.Context, ds component.Samples) (rows.Table[parcel], error) {
		before := &before{none: true}
		return rows.Table[parcel]{
			Rows: packed{ds, dataset.RangesOf(ds), env.Node},
			Begin: func(to io.Writer) (rows.File[parcel], error) {
				return &archive{to: to, node: env.Node, before: before, keys: map[string]int{}}, nil
			},
		}, nil
	})
}

// inOrder returns names whose sorted order is the given order: numbers get as many
// digits as the longest, unless two of them would be equal.
func inOrder(names []string) []string {
	most := 0
	for _, n := range names {
		if _, err := strconv.ParseUint(n, 10, 64); err != nil {
			return names
		}
		most = max(most, len(n))
	}
	padded, seen := slices.Clone(names), map[string]bool{}
	for i, n := range names {
		padded[i] = strings.Repeat("0", most-len(n)) + n
		if seen[padded[i]] {
			return names
		}
		seen[padded[i]] = true
	}
	return padded
}

// An archive is being written.
type archive struct {
	to     io.Writer
	bytes  int64
	node   string
	before *before
	keys   map[string]int // of its samples, by key
}

// before is the previous sample, which may be in another shard.
type before struct {
	parcel
	none bool
}

// Fits reports whether the archive, ended after one more sample, has at most most bytes.
func (a *archive) Fits(p parcel, most int64) bool {
	return a.bytes+int64(len(p.text))+endBlocks*blockBytes <= most
}

// Add writes the members of a sample.
func (a *archive) Add(p parcel) error {
	other, twice := a.keys[p.key]
	if !a.before.none && p.key == a.before.key {
		other, twice = a.before.number, true
	}
	if twice { // they would be read as one sample
		return &dataset.SampleError{Node: a.node, Index: p.number, Err: fmt.Errorf("key %q is also that of sample %d; give each a unique %s", p.key, other, members.Key)}
	}
	a.keys[p.key] = p.number
	a.before.number, a.before.key, a.before.none = p.number, p.key, false
	n, err := a.to.Write(p.text)
	a.bytes += int64(n)
	return err
}

// End writes the end of the archive.
func (a *archive) End() error {
	_, err := a.to.Write(make([]byte, endBlocks*blockBytes))
	return err
}

// endBlocks is the number of zero blocks that end an archive.
const endBlocks = 2

// A parcel is the encoded members of a sample.
type parcel struct {
	number int
	key    string
	text   []byte
}

// packed is a dataset of parcels.
type packed struct {
	component.Samples
	ranges *dataset.Ranges
	node   string
}

func (p packed) Batch() int { return dataset.BatchOf(p.Samples) }

func (p packed) At(ctx context.Context, i int) (parcel, error) {
	s, err := p.Samples.At(ctx, i)
	if err != nil {
		return parcel{}, err
	}
	return p.pack(ctx, i, s)
}

// Range computes samples together.
func (p packed) Range(ctx context.Context, from, to int) (all []parcel, err error) {
	samples, err := p.ranges.Range(ctx, from, to)
	for i, s := range samples {
		one, perr := p.pack(ctx, from+i, s)
		if perr != nil {
			return all, perr
		}
		all = append(all, one)
	}
	return all, err
}

func (p packed) pack(ctx context.Context, i int, s dataset.Sample) (parcel, error) {
	key, err := keyOf(ctx, i, s)
	var text []byte
	if err == nil {
		text, err = pack(ctx, key, s)
	}
	if err != nil {
		return parcel{}, &dataset.SampleError{Node: p.node, Index: i, Err: err}
	}
	return parcel{i, key, text}, nil
}

// keyOf returns the key of a sample.
func keyOf(ctx context.Context, i int, s dataset.Sample) (string, error) {
	if _, ok := s.Field(members.Key); !ok {
		return fmt.Sprintf("%09d", i), nil
	}
	v, err := s.Value(ctx, members.Key)
	if err != nil {
		return "", err
	}
	key, ok := v.(string)
	if !ok {
		return "", component.Unfit(fmt.Errorf("item %s is not a string; convert it first", members.Key))
	}
	read, suffix, ok := members.SplitName(key + ".x")
	if !ok || read != key || suffix != "x" || path.IsAbs(key) || !filepath.IsLocal(key) || strings.ContainsAny(key, "\\\x00\n") {
		return "", component.Unfit(fmt.Errorf("item %s is %q, not a member name; use a relative path without a dot after the last slash", members.Key, key))
	}
	return key, nil
}

// pack encodes the members of a sample, always in the same way for the same items.
func pack(ctx context.Context, key string, s dataset.Sample) ([]byte, error) {
	items, err := encoded(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, component.Unfit(errors.New("the sample has no items; drop it"))
	}
	suffixes, err := members.SuffixesOf(items)
	if err != nil {
		return nil, component.Unfit(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, it := range items {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: key + "." + suffixes[i], Mode: 0o644, Size: int64(len(it.Content))})
		if err == nil {
			_, err = w.Write(it.Content)
		}
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(it.Item), err)
		}
	}
	err = w.Flush()
	return b.Bytes(), err
}

// encoded returns the items that become members.
func encoded(ctx context.Context, s dataset.Sample) (items []members.Encoded, err error) {
	for f := range s.Fields() {
		if f.Key == members.Key {
			continue
		}
		it := members.Encoded{Item: f.Key}
		if it.Ext, err = f.Item.Ext(ctx); err == nil {
			it.Content, err = f.Item.Bytes(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
		items = append(items, it)
	}
	return items, nil
}
