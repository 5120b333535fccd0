package op

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/order"
)

func init() {
	component.RegisterParts("split", "Splits a dataset into parts of given sizes: in order, stratified by an expression, or by the hash of a value.",
		func(ctx context.Context, env *component.Env, p Split, in component.Samples) (component.Data, error) {
			return p.Apply(ctx, env, in)
		})
	component.RegisterParts("batch", "Splits a dataset into parts of equal size; the last may be smaller.",
		func(_ context.Context, _ *component.Env, p Batch, in component.Samples) (component.Data, error) {
			return p.Apply(in)
		})
	component.RegisterParts("chunk", "Splits a dataset into n parts whose sizes differ by at most one, larger parts first.",
		func(_ context.Context, _ *component.Env, p Chunk, in component.Samples) (component.Data, error) {
			return p.Apply(in)
		})
}

// Split splits a dataset into parts. Integers count samples, fractions are shares that
// add up to 1, and one part may be null for the rest. Fractions are rounded by the
// largest remainder, so no sample is lost. Samples keep their order in each part.
//
// By default the parts follow each other in the dataset. With Stratify each part gets
// its share of each value, to less than one sample with two parts, and to a sample or
// two with more. The first samples of a value are in the first part.
//
// With Hash the part of a sample depends only on a value of its own and the seed, so it
// stays when other samples are added or removed. The parts then have approximately
// their share. The hash is SHA-256 of the seed, a colon and the value as a string. Its
// first 53 bits are a number from 0 to 1, and the parts divide this range in order.
type Split struct {
	Sizes    any    `param:"sizes,required" doc:"a list of sizes, or a map of names to sizes: integers, or fractions with sum 1; one may be null, for the rest"`
	Stratify string `param:"stratify" doc:"an expression over the items that returns a string, an integer or a boolean; each part gets the same share of each value"`
	Hash     string `param:"hash" doc:"an expression over the items that returns a string, an integer or a boolean; its hash decides on the part, whatever the other samples are. Sizes must be fractions"`
	Seed     int    `param:"seed" doc:"seed of the assignment, with hash only" default:"0"`
	Rest     string `param:"rest" doc:"what to do with samples that the sizes leave over: fail, or leave them out" default:"error" enum:"error|drop"`
}

// part is one part of a split before its number of samples is known.
type part struct {
	name  string
	size  float64
	whole bool // size counts samples
	rest  bool

	dropped bool // it is not output
}

func (s Split) parts() ([]part, error) {
	var parts []part
	add := func(name string, v any) error {
		p := part{name: name}
		switch v := v.(type) {
		case nil:
			p.rest = true
		case int64:
			p.size, p.whole = float64(v), true
		case float64:
			p.size = v
		default:
			return fmt.Errorf("size of part %s is %v; give a number or null", name, v)
		}
		if p.size < 0 {
			return fmt.Errorf("size of part %s is %v; give 0 or more", name, v)
		}
		parts = append(parts, p)
		return nil
	}
	switch sizes := s.Sizes.(type) {
	case []any:
		for i, v := range sizes {
			if err := add(strconv.Itoa(i), v); err != nil {
				return nil, err
			}
		}
	case []component.Entry:
		for _, e := range sizes {
			if err := add(e.Key, e.Value); err != nil {
				return nil, err
			}
		}
	default:
		return nil, errors.New("sizes is of the wrong type; give a list or a map")
	}
	if err := checkParts(parts, s.Rest == dropRest); err != nil {
		return nil, err
	}
	if s.Rest == dropRest && !slices.ContainsFunc(parts, func(p part) bool { return p.rest }) {
		parts = append(parts, part{rest: true, dropped: true})
	}
	return parts, s.checkBy(parts)
}

const dropRest = "drop"

// checkBy refuses combinations of ways to split.
func (s Split) checkBy(parts []part) error {
	if s.Hash == "" && s.Seed != 0 {
		return errors.New("seed has no effect without hash; shuffle before to draw at random")
	}
	if s.Hash == "" {
		return nil
	}
	if s.Stratify != "" {
		return errors.New("stratify and hash exclude each other; remove one")
	}
	if i := slices.IndexFunc(parts, func(p part) bool { return p.whole }); i >= 0 {
		return fmt.Errorf("part %s has size %v, but hash needs fractions; write a fraction", parts[i].name, parts[i].size)
	}
	return nil
}

// checkParts refuses sizes that fit no dataset; open says that they may leave a rest.
func checkParts(parts []part, open bool) error {
	var rests, wholes, fractions int
	var sum float64
	for _, p := range parts {
		switch {
		case p.rest:
			rests++
		case p.whole:
			wholes++
		default:
			fractions++
			sum += p.size
		}
	}
	const slack = 1e-9
	switch {
	case len(parts) == 0:
		return errors.New("sizes is empty; give at least one part")
	case rests > 1:
		return errors.New("several sizes are null; at most one can be the rest")
	case wholes > 0 && fractions > 0:
		return errors.New("sizes mix integers and fractions; use one kind, with 1.0 for the whole")
	case fractions > 0 && sum > 1+slack:
		return fmt.Errorf("fractions add up to %.6g, more than 1; reduce them", sum)
	case fractions > 0 && rests == 0 && !open && sum < 1-slack:
		return fmt.Errorf("fractions add up to %.6g, not 1; correct them, give a null size, or set rest: drop", sum)
	}
	return nil
}

// Check refuses sizes that fit no dataset, and invalid expressions.
func (s Split) Check() error {
	if err := oneOf("rest", s.Rest, "", "error", dropRest); err != nil {
		return err
	}
	if _, err := s.parts(); err != nil {
		return err
	}
	for _, text := range []string{s.Stratify, s.Hash} {
		if text == "" {
			continue
		}
		if err := expr.Check(text); err != nil {
			return err
		}
	}
	return nil
}

// Scans implements [component.Scanner].
func (s Split) Scans() bool { return s.Stratify != "" || s.Hash != "" }

// Apply implements the operator.
func (s Split) Apply(ctx context.Context, env *component.Env, in component.Samples) (component.Data, error) {
	parts, err := s.parts()
	if err != nil {
		return component.Data{}, err
	}
	var data component.Data
	switch {
	case s.Hash != "":
		data, err = s.byHash(ctx, env, parts, in)
	case s.Stratify != "":
		data, err = s.byValue(ctx, env, parts, in)
	default:
		var sizes []int
		if sizes, err = partSizes(parts, in.Len()); err == nil {
			data, err = consecutive(in, names(parts), sizes)
		}
	}
	if err == nil && parts[len(parts)-1].dropped {
		data.Names, data.Parts = data.Names[:len(parts)-1], data.Parts[:len(parts)-1]
	}
	return data, err
}

func names(parts []part) []string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return names
}

// partSizes returns the number of samples of each part, for n samples.
func partSizes(parts []part, n int) ([]int, error) {
	spec := make([]order.Part, len(parts))
	for i, p := range parts {
		switch {
		case p.rest:
			spec[i] = order.Rest()
		case p.whole:
			spec[i] = order.Count(int(p.size))
		default:
			spec[i] = order.Fraction(p.size)
		}
	}
	return order.Split(n, spec...)
}

// Batch splits a dataset into parts of one size.
type Batch struct {
	Size int `param:"size,required" doc:"number of samples in each part but the last"`
}

// Check refuses sizes below one.
func (b Batch) Check() error { return positive("size", b.Size) }

const maxParts = 1 << 20

// Apply implements the operator.
func (b Batch) Apply(in component.Samples) (component.Data, error) {
	if err := b.Check(); err != nil {
		return component.Data{}, err
	}
	if parts := in.Len() / b.Size; parts > maxParts {
		return component.Data{}, fmt.Errorf("size %d gives %d parts for %d samples; at most %d are supported", b.Size, parts, in.Len(), maxParts)
	}
	var sizes []int
	for left := in.Len(); left > 0; left -= b.Size {
		sizes = append(sizes, min(left, b.Size))
	}
	return consecutive(in, numbers(len(sizes)), sizes)
}

// Chunk splits a dataset into a given number of parts.
type Chunk struct {
	N int `param:"n,required" doc:"how many parts"`
}

// Check refuses numbers below one or above the maximum number of outputs.
func (c Chunk) Check() error {
	if c.N > maxParts {
		return fmt.Errorf("n is %d; give at most %d", c.N, maxParts)
	}
	return positive("n", c.N)
}

// Apply implements the operator.
func (c Chunk) Apply(in component.Samples) (component.Data, error) {
	if err := c.Check(); err != nil {
		return component.Data{}, err
	}
	sizes := make([]int, c.N)
	for i := range sizes {
		sizes[i] = in.Len() / c.N
		if i < in.Len()%c.N {
			sizes[i]++
		}
	}
	return consecutive(in, numbers(c.N), sizes)
}

// numbers returns the names of n parts: 0 to n-1.
func numbers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// consecutive cuts in into parts of the given sizes, one after another.
func consecutive(in component.Samples, names []string, sizes []int) (component.Data, error) {
	data := component.Data{Names: names}
	start := 0
	for _, size := range sizes {
		stop := start + size
		o, err := order.Slice(in.Len(), &start, &stop, nil)
		if err != nil {
			return component.Data{}, err
		}
		data.Parts = append(data.Parts, dataset.Reorder(in, o))
		start = stop
	}
	return data, nil
}
