package mapper

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("hash", "Makes an item with the digest of the values of others: equal values give equal digests however they are encoded.",
		func(_ *component.Env, p Hash) (dataset.Mapper, error) { return p.Maker() })
}

// Hash makes a text item with the digest of the names and values of other
// items, in the canonical encoding of package key.
type Hash struct {
	Items []string `param:"items" doc:"items to take in; all if not given"`
	Into  string   `param:"into" doc:"the item to make" default:"hash"`
}

// Maker returns the mapper.
func (m Hash) Maker() (dataset.Maker, error) {
	return dataset.NewMaker(dataset.MakerFunc{
		Name: "hash", Code: key.Version("1"),
		Params: []key.Param{{Name: "into", Value: m.Into}, {Name: "all", Value: m.Items == nil}},
		In:     m.Items, Out: []string{m.Into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			values := make(map[string]any, s.Len())
			for _, k := range s.Keys() {
				v, err := s.Value(ctx, k)
				if err != nil {
					return dataset.Sample{}, err
				}
				values[k] = v
			}
			d, err := key.Of(values)
			if err != nil {
				return dataset.Sample{}, fmt.Errorf("hash: %w", err)
			}
			return oneItem(m.Into, "txt", d.String()), nil
		},
	})
}
