package columns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/called"
)

// mostLooked bounds how many samples are looked at to find out what columns hold.
const mostLooked = 100

// Types say what columns hold: item to a type, as [ParseKind] reads it.
type Types map[string]string

// Check refuses types that are not known.
func (t Types) Check() error {
	for _, item := range slices.Sorted(maps.Keys(t)) {
		if _, err := ParseKind(t[item]); err != nil {
			return fmt.Errorf("types: %s: %w", item, err)
		}
	}
	return nil
}

// A Table is a dataset as rows of columns.
type Table struct {
	Names []string
	Kinds []Kind

	in     component.Samples
	ranges *dataset.Ranges
	node   string
}

// TableOf finds out the columns of a dataset: the items of the first sample, in their order, and
// others that t names. What an item that is nil may be is told by the samples after it. node is
// what errors of samples are of.
func (t Types) TableOf(ctx context.Context, node string, ds component.Samples) (*Table, error) {
	names, kinds, err := t.infer(ctx, ds)
	if err != nil {
		return nil, err
	}
	return &Table{Names: names, Kinds: kinds, in: ds, ranges: dataset.RangesOf(ds), node: node}, nil
}

func (t Types) infer(ctx context.Context, ds component.Samples) (names []string, kinds []Kind, err error) {
	known := map[string]Kind{}
	for item, text := range t {
		known[item], _ = ParseKind(text) // it was checked
	}
	for i := 0; i < min(ds.Len(), mostLooked) && (i == 0 || len(known) < len(names)); i++ {
		sample, err := ds.At(ctx, i)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			names = sample.Keys()
		}
		if err := look(ctx, sample, names, known); err != nil {
			return nil, nil, fmt.Errorf("sample %d: %w", i, err)
		}
	}
	for _, item := range slices.Sorted(maps.Keys(known)) {
		if !slices.Contains(names, item) {
			names = append(names, item)
		}
	}
	for _, name := range names {
		if !utf8.ValidString(name) {
			return nil, nil, component.Unfit(fmt.Errorf("item %s: its name is not UTF-8; rename it", called.Name(name)))
		}
		k, ok := known[name]
		if !ok {
			return nil, nil, component.Unfit(fmt.Errorf("item %s is null in the first %d samples; say what it is, as in types: {%s: int64}", called.Name(name), min(ds.Len(), mostLooked), name))
		}
		kinds = append(kinds, k)
	}
	if len(names) == 0 {
		return nil, nil, component.Unfit(errors.New("there is no item, so the table would have no column; name some by types"))
	}
	return names, kinds, nil
}

// look finds out what a sample tells of the columns.
func look(ctx context.Context, sample dataset.Sample, names []string, known map[string]Kind) error {
	for _, name := range names {
		f, there := sample.Field(name)
		if _, ok := known[name]; ok || !there {
			continue
		}
		v, err := valueOf(ctx, f.Item)
		if err != nil {
			return fmt.Errorf("item %s: %w", called.Name(name), err)
		}
		if k, ok := kindOf(v); ok {
			known[name] = k
		}
	}
	return nil
}

// Len is how many rows there are.
func (t *Table) Len() int { return t.in.Len() }

// Batch is how many samples are made together.
func (t *Table) Batch() int { return dataset.BatchOf(t.in) }

// At makes a row: a piece for each column.
func (t *Table) At(ctx context.Context, i int) ([]Piece, error) {
	s, err := t.in.At(ctx, i)
	if err != nil {
		return nil, err
	}
	return t.row(ctx, i, s)
}

// Range makes what samples are made of together.
func (t *Table) Range(ctx context.Context, from, to int) (all [][]Piece, err error) {
	samples, err := t.ranges.Range(ctx, from, to)
	for i, s := range samples {
		row, rerr := t.row(ctx, from+i, s)
		if rerr != nil {
			return all, rerr
		}
		all = append(all, row)
	}
	return all, err
}

func (t *Table) row(ctx context.Context, i int, s dataset.Sample) ([]Piece, error) {
	row, found := make([]Piece, len(t.Names)), 0
	for k, name := range t.Names {
		var it *dataset.Item // nil where the sample does not have it
		if f, ok := s.Field(name); ok {
			it = f.Item
			found++
		}
		if err := t.Kinds[k].Append(ctx, &row[k], it); err != nil {
			return nil, &dataset.SampleError{Node: t.node, Index: i, Err: fmt.Errorf("item %s: %w", called.Name(name), err)}
		}
	}
	if found < s.Len() {
		for _, key := range s.Keys() {
			if !slices.Contains(t.Names, key) {
				return nil, &dataset.SampleError{Node: t.node, Index: i, Err: component.Unfit(fmt.Errorf("item %s is not in the first sample, so there is no column for it; name it by types, or drop it before", called.Name(key)))}
			}
		}
	}
	return row, nil
}
