// Package members reads archives whose members are the items of samples, as in
// WebDataset. Members whose names are equal up to the first dot of the base name form a
// sample. The rest of the name selects the item and its encoding.
//
// A format adds the positions of members to a [Builder]; [Samples] returns the samples.
package members

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
)

// Key is the item with the key of a sample: the beginning of its members' names.
const Key = "__key__"

// An Archive is a file with an index of its samples.
type Archive struct {
	*indexed.File
	Index Index
	// Item returns the origin of a member at a position.
	Item func(name Name, place []byte) dataset.Origin
}

// Samples returns the samples of archives, in order. It opens several archives
// concurrently, as env allows.
func Samples(ctx context.Context, env *component.Env, paths []string, open func(ctx context.Context, path string) (*Archive, error)) (component.Samples, error) {
	return indexed.Join(ctx, env, len(paths), func(ctx context.Context, i int) (*Archive, error) { return open(ctx, paths[i]) })
}

// Len returns the number of samples.
func (a *Archive) Len() int { return a.Index.Samples() }

// Sample returns a sample of the archive, without reading it.
func (a *Archive) Sample(_ context.Context, i int) (dataset.Sample, error) {
	key := a.Index.Key(i)
	from, to := a.Index.MembersOf(i)
	suffixes := make([]string, 0, to-from)
	for m := from; m < to; m++ {
		suffixes = append(suffixes, a.Index.Suffix(m))
	}
	names, err := NamesOf(key, suffixes)
	if err != nil {
		return dataset.Sample{}, fmt.Errorf("%s: %w", a.Path, err)
	}
	fields := make([]dataset.Field, 0, 1+len(names))
	fields = append(fields, dataset.Field{Key: Key, Item: dataset.NewItem("txt", key)})
	for i, n := range names {
		fields = append(fields, dataset.Field{Key: n.Item, Item: dataset.ItemFrom(a.Item(n, a.Index.Place(from+i)))})
	}
	return dataset.NewSample(fields...), nil
}

// A Name describes a member of a sample.
type Name struct {
	Member  string
	Item    string
	Ext     string // of its bytes
	Integer bool   // an integer, for [Integer]
}

// NamesOf returns the names of the members of a sample with the given suffixes. If two
// would be one item, the whole suffixes are the names of the sample's items.
func NamesOf(key string, suffixes []string) ([]Name, error) {
	names := make([]Name, len(suffixes))
	for i, suffix := range suffixes {
		item, ext := itemOf(suffix)
		names[i] = Name{key + "." + suffix, item, ext, IsInteger(suffix)}
	}
	if second(names) < 0 {
		return names, nil
	}
	for i, suffix := range suffixes {
		dot := strings.LastIndexByte(suffix, '.') + 1
		names[i].Item = suffix[:dot] + strings.ToLower(suffix[dot:])
	}
	if i := second(names); i >= 0 {
		return nil, fmt.Errorf("%s is a second item %s of the sample; rename one", names[i].Member, names[i].Item)
	}
	return names, nil
}

// second returns the first member that is the same item as one before it, or -1.
func second(names []Name) int {
	for i, n := range names {
		if n.Item == Key || slices.ContainsFunc(names[:i], func(o Name) bool { return o.Item == n.Item }) {
			return i
		}
	}
	return -1
}
