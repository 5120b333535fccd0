package dataset

import (
	"context"

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
	Func   func(ctx context.Context, in Sample) (Sample, error)
}

// NewMaker returns the maker that f describes, or an error if its parameters
// cannot be keyed.
func NewMaker(f MakerFunc) (Maker, error) {
	op, err := key.NewOp(f.Name, f.Code, f.Params...)
	if err != nil {
		return nil, err
	}
	return &maker{f, op}, nil
}

type maker struct {
	MakerFunc
	op *key.Op
}

func (m *maker) Op() *key.Op     { return m.op }
func (m *maker) Reads() []string { return m.In }
func (m *maker) Makes() []string { return m.Out }

func (m *maker) Map(ctx context.Context, in Sample) (Sample, error) { return m.Func(ctx, in) }
