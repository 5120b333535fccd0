package mapper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

func init() {
	component.RegisterMapper("rename", "Renames items, all at the same time, so names can be swapped.",
		func(_ *component.Env, p Rename) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("format-keys", "Renames items by a pattern.",
		func(_ *component.Env, p FormatKeys) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("keep-keys", "Keeps only the named items.",
		func(_ *component.Env, p KeepKeys) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("drop-keys", "Removes the named items.",
		func(_ *component.Env, p DropKeys) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("duplicate", "Gives an item a second name.",
		func(_ *component.Env, p Duplicate) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("share", "Declares items as shared by all samples of the dataset, or as own items of each sample.",
		func(_ *component.Env, p Share) (dataset.Mapper, error) { return p, p.Check() })
}

// Rename renames items. It reads nothing. Two items with the same new name are an
// error.
type Rename struct {
	Names   map[string]string `param:"names,required" doc:"old name to new name; missing items are ignored"`
	Exclude bool              `param:"exclude" doc:"keep only the renamed items"`
}

// Map implements dataset.Mapper.
func (m Rename) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	if m.Exclude {
		return s.Remap(m.Names)
	}
	return s.Rename(m.Names)
}

// FormatKeys gives items names derived from their old ones. It reads nothing. Two items
// with the same new name are an error.
type FormatKeys struct {
	Format string   `param:"format" doc:"the new name, in which * represents the old name; without a *, a suffix to the old name" default:"\"*\""`
	Keys   []string `param:"keys" doc:"items to rename, all by default; missing items are ignored"`
}

// Map implements dataset.Mapper.
func (m FormatKeys) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	format := m.Format
	if !strings.Contains(format, "*") {
		format = "*" + format
	}
	names := map[string]string{}
	for _, k := range s.Keys() {
		if m.Keys == nil || slices.Contains(m.Keys, k) {
			names[k] = strings.ReplaceAll(format, "*", k)
		}
	}
	return s.Rename(names)
}

// KeepKeys passes on only the named items. It reads nothing.
type KeepKeys struct {
	Keys []string `param:"keys,required" doc:"items to keep; missing items are ignored"`
}

// Map implements dataset.Mapper.
func (m KeepKeys) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Only(m.Keys...), nil
}

// DropKeys passes on all but the named items. It reads nothing.
type DropKeys struct {
	Keys []string `param:"keys,required" doc:"items to remove; missing items are ignored"`
}

// Map implements dataset.Mapper.
func (m DropKeys) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Without(m.Keys...), nil
}

// Duplicate gives an item a second name. It reads nothing: both names refer to one
// item, which stays shared or unshared.
type Duplicate struct {
	Item string `param:"item,required" doc:"the item"`
	Into string `param:"into,required" doc:"its second name, which must be unused"`
}

// Map implements dataset.Mapper.
func (m Duplicate) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	it, err := s.Item(m.Item)
	if err != nil {
		return dataset.Sample{}, err
	}
	if _, taken := s.Field(m.Into); taken {
		return dataset.Sample{}, fmt.Errorf("duplicate %s as %s: item %s exists; choose another name", m.Item, m.Into, m.Into)
	}
	f, _ := s.Field(m.Item)
	return s.With(dataset.Field{Key: m.Into, Item: it, Shared: f.Shared}), nil
}

// Share says which items belong to the whole dataset and which to each sample. It reads
// nothing, so it cannot check that shared items are the same in all samples. The author
// of the flow must ensure this.
type Share struct {
	Share   []string `param:"share" doc:"items to share; missing items are ignored"`
	Unshare []string `param:"unshare" doc:"items to make each sample's own; missing items are ignored"`
}

// Check refuses an item that is in both lists.
func (m Share) Check() error {
	for _, k := range m.Share {
		if slices.Contains(m.Unshare, k) {
			return fmt.Errorf("item %s is in share and in unshare; remove it from one of them", k)
		}
	}
	return nil
}

// Map implements dataset.Mapper.
func (m Share) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Share(true, m.Share...).Share(false, m.Unshare...), nil
}
