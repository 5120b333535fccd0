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
	component.RegisterMapper("rename", "Gives items other names, all at once, so that names can be swapped.",
		func(_ *component.Env, p Rename) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("format-keys", "Gives items names made from those they have.",
		func(_ *component.Env, p FormatKeys) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("keep-keys", "Passes on only the named items.",
		func(_ *component.Env, p KeepKeys) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("drop-keys", "Passes on all but the named items.",
		func(_ *component.Env, p DropKeys) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("duplicate", "Gives an item a second name.",
		func(_ *component.Env, p Duplicate) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("share", "Says which items belong to the whole dataset and which to each sample.",
		func(_ *component.Env, p Share) (dataset.Mapper, error) { return p, p.Check() })
}

// Rename renames items. It reads nothing. Two items with the same new name are an
// error.
type Rename struct {
	Names   map[string]string `param:"names,required" doc:"old name to new name; names that are not there are ignored"`
	Exclude bool              `param:"exclude" doc:"pass on only the items that are given a name here"`
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
	Format string   `param:"format" doc:"the new name, with the old one for each *; without a * it is put behind the old name" default:"\"*\""`
	Keys   []string `param:"keys" doc:"items to rename; all if not given; those that are not there are ignored"`
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
	Keys []string `param:"keys,required" doc:"items to pass on; those that are not there are ignored"`
}

// Map implements dataset.Mapper.
func (m KeepKeys) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Only(m.Keys...), nil
}

// DropKeys passes on all but the named items. It reads nothing.
type DropKeys struct {
	Keys []string `param:"keys,required" doc:"items to drop; those that are not there are ignored"`
}

// Map implements dataset.Mapper.
func (m DropKeys) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Without(m.Keys...), nil
}

// Duplicate gives an item a second name. It reads nothing: both names refer to one
// item, which stays shared or unshared.
type Duplicate struct {
	Item string `param:"item,required" doc:"the item"`
	Into string `param:"into,required" doc:"its second name; a name that is taken is an error"`
}

// Map implements dataset.Mapper.
func (m Duplicate) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	it, err := s.Item(m.Item)
	if err != nil {
		return dataset.Sample{}, err
	}
	if _, taken := s.Field(m.Into); taken {
		return dataset.Sample{}, fmt.Errorf("duplicate %s as %s: there is already an item %s", m.Item, m.Into, m.Into)
	}
	f, _ := s.Field(m.Item)
	return s.With(dataset.Field{Key: m.Into, Item: it, Shared: f.Shared}), nil
}

// Share says which items belong to the whole dataset and which to each sample. It reads
// nothing, so it cannot check that shared items are the same in all samples. The author
// of the flow must ensure this.
type Share struct {
	Share   []string `param:"share" doc:"items to share; those that are not there are ignored"`
	Unshare []string `param:"unshare" doc:"items that become each sample's own; those that are not there are ignored"`
}

// Check refuses an item that is in both lists.
func (m Share) Check() error {
	for _, k := range m.Share {
		if slices.Contains(m.Unshare, k) {
			return fmt.Errorf("item %s is to be shared and unshared; name it in one of the lists", k)
		}
	}
	return nil
}

// Map implements dataset.Mapper.
func (m Share) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Share(true, m.Share...).Share(false, m.Unshare...), nil
}
