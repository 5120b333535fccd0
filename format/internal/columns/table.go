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
	"github.com/larder-data/larder/internal/text/display"
)

// Types map items to column types, in the syntax of [ParseKind].
type Types map[string]string

// Check refuses unknown types.
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
	Names  []string
	Kinds  []*Kind
	Leaves []Leaf // of all columns

	node string
	rows dataset.Dataset[[]any] // the values of each column
}

// TableOf determines the columns of a dataset: the items of its samples, in order, and
// others that t names. Each sample is computed once, and its values are stored until the
// columns are known. If t names all items of the first sample, nothing is stored.
func (t Types) TableOf(ctx context.Context, env *component.Env, ds component.Samples) (*Table, error) {
	declared := map[string]*Kind{}
	for item, text := range t {
		declared[item], _ = ParseKind(text) // already checked
	}
	in := &values{in: ds, ranges: dataset.RangesOf(ds), node: env.Node, declared: declared}
	table := &Table{node: env.Node}
	first, err := firstKeys(ctx, ds)
	if err != nil {
		return nil, err
	}
	all := !slices.ContainsFunc(first, func(name string) bool { return declared[name] == nil })
	if all {
		table.Names = first
	} else if table.rows, err = table.infer(ctx, env, in); err != nil {
		return nil, err
	}
	for _, item := range slices.Sorted(maps.Keys(declared)) {
		if !slices.Contains(table.Names, item) {
			table.Names = append(table.Names, item)
		}
	}
	for i, name := range table.Names {
		if k := declared[name]; i >= len(table.Kinds) {
			table.Kinds = append(table.Kinds, k)
		} else if k != nil {
			table.Kinds[i] = k
		}
	}
	if all {
		table.rows = &ordered{values: in, names: table.Names}
	}
	return table, table.check()
}

// firstKeys returns the items of the first sample.
func firstKeys(ctx context.Context, ds component.Samples) ([]string, error) {
	if ds.Len() == 0 {
		return nil, nil
	}
	s, err := ds.At(ctx, 0)
	if err != nil {
		return nil, err
	}
	return s.Keys(), nil
}

// infer scans all samples, and returns their values.
func (t *Table) infer(ctx context.Context, env *component.Env, in *values) (dataset.Dataset[[]any], error) {
	retained, err := newSpool()
	if err != nil {
		return nil, err
	}
	at := map[string]int{} // columns, by their items
	i := 0
	for s, err := range dataset.Stream(ctx, in, env.Pool) {
		if err != nil {
			return nil, err
		}
		row := make([]any, len(t.Names), len(t.Names)+len(s))
		for _, f := range s {
			k, known := at[f.name]
			if !known {
				k = len(t.Names)
				at[f.name] = k
				t.Names, t.Kinds, row = append(t.Names, f.name), append(t.Kinds, &Kind{Of: Null, seen: i}), append(row, nil)
			}
			row[k] = f.value
			if in.declared[f.name] != nil {
				continue
			}
			kind, err := kindOf(f.value, i)
			if err == nil {
				t.Kinds[k], err = t.Kinds[k].merge(kind, "")
			}
			if err != nil {
				return nil, &dataset.SampleError{Node: env.Node, Index: i, Err: fmt.Errorf("item %s: %w", display.Name(f.name), err)}
			}
		}
		if err := retained.add(row); err != nil {
			return nil, err
		}
		i++
	}
	return dataset.Func(i, func(_ context.Context, i int) ([]any, error) { return retained.row(i) }), nil
}

// check refuses columns that no file can have, and finds their leaves.
func (t *Table) check() error {
	if len(t.Names) == 0 {
		return component.Unfit(errors.New("the sample has no items, so the table has no columns; set types"))
	}
	for i, name := range t.Names {
		if !utf8.ValidString(name) {
			return component.Unfit(fmt.Errorf("item %s: the name is not UTF-8; rename it", display.Name(name)))
		}
		if err := t.Kinds[i].check(0); err != nil {
			return fmt.Errorf("item %s: %w", display.Name(name), err)
		}
		if t.Leaves = t.Kinds[i].leaves(t.Leaves, []string{name}, 0, 0); len(t.Leaves) > maxLeaves {
			return component.Unfit(fmt.Errorf("item %s: the table exceeds %d columns; set types: {%s: json}", display.Name(name), maxLeaves, display.Name(name)))
		}
	}
	return nil
}

// Len returns the number of rows.
func (t *Table) Len() int { return t.rows.Len() }

// Batch returns how many samples are computed together.
func (t *Table) Batch() int { return dataset.BatchOf(t.rows) }

// At returns a row: a piece for each leaf.
func (t *Table) At(ctx context.Context, i int) ([]Piece, error) {
	row, err := t.rows.At(ctx, i)
	if err != nil {
		return nil, err
	}
	return t.pieces(i, row)
}

// Range computes rows together.
func (t *Table) Range(ctx context.Context, from, to int) (all [][]Piece, err error) {
	together, ok := t.rows.(*ordered)
	if !ok {
		row, err := t.At(ctx, from)
		if err != nil {
			return nil, err
		}
		return [][]Piece{row}, nil
	}
	rows, err := together.Range(ctx, from, to)
	for i, row := range rows {
		p, perr := t.pieces(from+i, row)
		if perr != nil {
			return all, perr
		}
		all = append(all, p)
	}
	return all, err
}

func (t *Table) pieces(i int, row []any) ([]Piece, error) {
	pieces := make([]Piece, len(t.Leaves))
	at := 0
	for k, kind := range t.Kinds {
		n := kind.Count()
		var v any
		if k < len(row) {
			v = row[k]
		}
		if err := kind.put(pieces[at:at+n], v, 0, 0, 0); err != nil {
			return nil, &dataset.SampleError{Node: t.node, Index: i, Err: fmt.Errorf("item %s: %w", display.Name(t.Names[k]), err)}
		}
		at += n
	}
	return pieces, nil
}
