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
	// Item returns what reads a member, which has a name and an extension, at a place.
	Item func(name, ext string, place []byte) dataset.Origin
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
	name := a.Index.Key(i)
	from, to := a.Index.MembersOf(i)
	fields := make([]dataset.Field, 0, 1+to-from)
	fields = append(fields, dataset.Field{Key: Key, Item: dataset.NewItem("txt", name)})
	for m := from; m < to; m++ {
		suffix := a.Index.Suffix(m)
		item, ext, err := Named(fields, name, suffix)
		if err != nil {
			return dataset.Sample{}, fmt.Errorf("%s: %w", a.Path, err)
		}
		fields = append(fields, dataset.Field{Key: item, Item: dataset.ItemFrom(a.Item(name+"."+suffix, ext, a.Index.Place(m)))})
	}
	return dataset.NewSample(fields...), nil
}

// Named returns the item that a member of a sample is, beside the others of the sample, and the
// extension that says how it is read.
func Named(others []dataset.Field, key, suffix string) (item, ext string, err error) {
	item, ext = itemOf(suffix)
	if slices.ContainsFunc(others, func(f dataset.Field) bool { return f.Key == item }) {
		return item, ext, fmt.Errorf("%s.%s would be a second item %s of the sample %s; give one of them another name", key, suffix, item, key)
	}
	return item, ext, nil
}
