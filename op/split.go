package op

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

func init() {
	component.RegisterParts("split", "Splits a dataset into parts of given sizes, one after another; none of its samples is lost.",
		func(_ context.Context, _ *component.Env, p Split, in component.Samples) (component.Data, error) {
			return p.Apply(in)
		})
	component.RegisterParts("batch", "Splits a dataset into parts of one size; the last may be shorter.",
		func(_ context.Context, _ *component.Env, p Batch, in component.Samples) (component.Data, error) {
			return p.Apply(in)
		})
	component.RegisterParts("chunk", "Splits a dataset into so many parts whose sizes differ by at most one, larger ones first.",
		func(_ context.Context, _ *component.Env, p Chunk, in component.Samples) (component.Data, error) {
			return p.Apply(in)
		})
}

// Split splits a dataset into parts: whole numbers are samples, fractions are
// shares that add up to 1, and one part may be null for all the rest.
// Fractions are rounded by the largest remainder, so no sample is lost.
type Split struct {
	Sizes any `param:"sizes,required" doc:"a list of sizes, or a map of names to sizes: whole numbers, or fractions that add up to 1, and at most one null for the rest"`
}

// part is one part of a split before the number of samples is known.
type part struct {
	name  string
	size  float64
	whole bool // size counts samples
	rest  bool
}

// parts reads the sizes.
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
			return fmt.Errorf("size of part %s is %v; it must be a number or null", name, v)
		}
		if p.size < 0 {
			return fmt.Errorf("size of part %s is %v and must not be negative", name, v)
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
		return nil, errors.New("sizes must be a list or a map")
	}
	return parts, checkParts(parts)
}

func checkParts(parts []part) error {
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
		return errors.New("sizes must name at least one part")
	case rests > 1:
		return errors.New("at most one part may be null, the rest")
	case wholes > 0 && fractions > 0:
		return errors.New("sizes must be all whole numbers or all fractions; write 1.0 for the whole")
	case fractions > 0 && (sum > 1+slack || rests == 0 && sum < 1-slack):
		return fmt.Errorf("fractions add up to %v; they must add up to 1, or leave a rest to a part that is null", sum)
	}
	return nil
}

// Check refuses sizes that can fit no dataset.
func (s Split) Check() error {
	_, err := s.parts()
	return err
}

// Apply implements the operator.
func (s Split) Apply(in component.Samples) (component.Data, error) {
	parts, err := s.parts()
	if err != nil {
		return component.Data{}, err
	}
	sizes, err := partSizes(parts, in.Len())
	if err != nil {
		return component.Data{}, err
	}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return consecutive(in, names, sizes)
}

// partSizes gives each part its number of samples of n.
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
	Size int `param:"size,required" doc:"samples in each part but the last"`
}

// Check refuses sizes below one.
func (b Batch) Check() error { return positive("size", b.Size) }

// maxParts bounds how many outputs a node can have.
const maxParts = 1 << 20

// Apply implements the operator.
func (b Batch) Apply(in component.Samples) (component.Data, error) {
	if err := b.Check(); err != nil {
		return component.Data{}, err
	}
	if parts := in.Len() / b.Size; parts > maxParts {
		return component.Data{}, fmt.Errorf("batches of %d give %d parts of %d samples; at most %d are possible", b.Size, parts, in.Len(), maxParts)
	}
	var sizes []int
	for left := in.Len(); left > 0; left -= b.Size {
		sizes = append(sizes, min(left, b.Size))
	}
	return consecutive(in, numbers(len(sizes)), sizes)
}

// Chunk splits a dataset into so many parts.
type Chunk struct {
	N int `param:"n,required" doc:"how many parts"`
}

// Check refuses numbers below one, and more than a node can have outputs.
func (c Chunk) Check() error {
	if c.N > maxParts {
		return fmt.Errorf("n is %d and must be at most %d", c.N, maxParts)
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

// numbers are the names of n parts: 0 to n-1.
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
