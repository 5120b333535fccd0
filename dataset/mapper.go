package dataset

import (
	"context"
	"slices"

	"github.com/larder-data/larder/key"
)

// A Mapper makes one sample from another. Map must depend on nothing but the
// items it is given, and may be called from many goroutines.
//
// A mapper that only moves names (rename, drop) is just this: it is run on
// every access and must read no item. One that computes is a [Maker].
type Mapper interface {
	Map(ctx context.Context, in Sample) (Sample, error)
}

// A Maker is a mapper that computes items, so that its results are worth
// keeping. Its results depend on the items it reads, and only on them.
type Maker interface {
	Mapper
	// Op identifies the computation: its name, code and parameters.
	Op() *key.Op
	// Reads names the items Map is given; the sample is an error if it
	// lacks one. Nil means every item of the sample.
	Reads() []string
	// Makes names the items Map adds; everything else in the sample is
	// passed on. Nil means that only running it tells: what Map returns is
	// then the whole new sample, and asking for a sample runs it.
	Makes() []string
	// Random says what random numbers depend on that Map gets by [Rand]. Nil
	// means that it draws none.
	Random() *Random
}

// A MapperFunc is a function used as a mapper that reads nothing.
type MapperFunc func(ctx context.Context, in Sample) (Sample, error)

// Map calls f.
func (f MapperFunc) Map(ctx context.Context, in Sample) (Sample, error) { return f(ctx, in) }

// A MakerFunc is a maker given by its parts.
type MakerFunc struct {
	Name   string      // what is done, with Params and Code the identity
	Code   key.Code    // identity of the code
	Params []key.Param // whatever else the result depends on
	In     []string    // items read; nil means all
	Out    []string    // items made; nil means that only running it tells
	// Names, if it is not nil, says for samples that have certain keys which
	// items are read and made, in place of In and Out. Where none is made, Func
	// is not run.
	Names func(have []string) (in, out []string)
	// Apart says that each item made is made of the item whose place it takes,
	// and of no other: it then stays shared if that is.
	Apart bool
	// Random, if it is not nil, says that Func draws random numbers. It is part
	// of the identity, as the parameters seed, epoch and "per content".
	Random *Random
	Func   func(ctx context.Context, in Sample) (Sample, error)
}

// NewMaker returns the maker that f describes, or an error if its parameters
// cannot be keyed.
func NewMaker(f MakerFunc) (Maker, error) {
	params := f.Params
	if f.Random != nil {
		if err := f.Random.Check(); err != nil {
			return nil, err
		}
		params = slices.Concat(params, f.Random.params())
	}
	op, err := key.NewOp(f.Name, f.Code, params...)
	if err != nil {
		return nil, err
	}
	if f.Names != nil {
		f.In, f.Out = nil, []string{}
	}
	return &maker{f, op}, nil
}

type maker struct {
	f  MakerFunc
	op *key.Op
}

func (m *maker) Op() *key.Op     { return m.op }
func (m *maker) Reads() []string { return m.f.In }
func (m *maker) Makes() []string { return m.f.Out }
func (m *maker) Random() *Random { return m.f.Random }

func (m *maker) Map(ctx context.Context, in Sample) (Sample, error) { return m.f.Func(ctx, in) }

// apart reports whether m makes each item of the one whose place it takes.
func apart(m Maker) bool {
	f, ok := m.(*maker)
	return ok && f.f.Apart && f.f.Random == nil
}

// names returns what a maker reads and makes of a sample.
func names(m Maker, s Sample) (reads, makes []string) {
	if m, ok := m.(*maker); ok && m.f.Names != nil {
		return m.f.Names(s.Keys())
	}
	return m.Reads(), m.Makes()
}
