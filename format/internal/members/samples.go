// Package members is about archives whose members are the items of samples, as WebDataset has
// them: those whose names are the same up to the first dot of the base name make a sample, and
// what comes after the dot says which item a member is, and how it is read.
//
// A format says where the members of an archive lie, with a [Builder]; [Samples] makes samples
// of that.
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

// Key is the item that a sample is called by: what its members' names begin with.
const Key = "__key__"

// An Archive is a file of which it is known where the samples lie.
type Archive struct {
	*indexed.File
	Index Index
	// Item returns what reads a member at a place.
	Item func(name Name, place []byte) dataset.Origin
}

// Samples returns the samples of archives, one archive after another. They are opened as many
// at once as env does things.
func Samples(ctx context.Context, env *component.Env, paths []string, open func(ctx context.Context, path string) (*Archive, error)) (component.Samples, error) {
	return indexed.Join(ctx, env, len(paths), func(ctx context.Context, i int) (*Archive, error) { return open(ctx, paths[i]) })
}

// Len is how many samples there are.
func (a *Archive) Len() int { return a.Index.Samples() }

// Sample makes the sample at a place in the archive. None of it is read.
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

// A Name is what a member of a sample is.
type Name struct {
	Member  string
	Item    string
	Ext     string // how it is read
	Integer bool   // a whole number, for [Integer]
}

// NamesOf returns what the members of a sample are that end so. Where two would be one item, the
// items of the sample are called by all that their members' names end with.
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
		return nil, fmt.Errorf("%s would be a second item %s of the sample; rename one of them", names[i].Member, names[i].Item)
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
