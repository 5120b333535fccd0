package dataset

import (
	"context"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// A Transform is a mapper that computes items, so its results are worth caching. They depend
// only on the items that it reads.
type Transform interface {
	Mapper
	// Name is a human-readable name of the computation; with Op it is the identity.
	Name() string
	// Op identifies the computation: its name, code and parameters. Finding that out may
	// take long; l, which may be nil, caches it.
	Op(ctx context.Context, l *larder.Larder) (*key.Op, error)
	// Reads lists the items that Map receives; a sample without one of them is an error.
	// Nil means every item of the sample.
	Reads() []string
	// Makes lists the items that Map adds; all other items are passed on. Nil means that
	// the outputs are known only after a run: Map then returns the whole new sample, and
	// requesting a sample runs it.
	Makes() []string
	// Random says what the random numbers of [Rand] depend on in Map. Nil means that Map
	// draws none.
	Random() *Random
}

// A TransformFunc describes a transform for [NewTransform].
type TransformFunc struct {
	Name string // human-readable name; part of the identity, with Params and Code
	// Detail distinguishes transforms of one name in listings, for example by a command. It
	// is not part of the identity.
	Detail string
	// Code is the version of the code, if its author declares one. With the zero value Func
	// is identified by its source, if its package registers that, and otherwise by the
	// build. A literal that captures variables is identified by its enclosing function,
	// whose arguments must be in Params. It is refused if it may write to captured
	// variables, or if other code may after its creation.
	Code key.Code
	// Pure lists impure or unknown code that is allowed: see [codeid.Options].
	Pure   []string
	Params []key.Param // everything else that the result depends on
	In     []string    // items read; nil means all
	Out    []string    // items computed; nil means known only after a run
	// Formats lists the extensions of the computed items, and of bytes that the code
	// decodes in addition to the items in In. The code of their codecs is part of the
	// identity. Nil means any. Items that are passed on or changed in place do not count.
	Formats []string
	// Names, if not nil, replaces In and Out: it returns the items read and computed for
	// samples with the given keys. If none is computed, Func does not run.
	Names func(have []string) (in, out []string)
	// PerItem says that each output is computed only from the item that it replaces. It then
	// stays shared if that item is.
	PerItem bool
	// Random, if not nil, says that Func draws random numbers. It is part of the identity,
	// as the parameters seed, epoch and "per content".
	Random *Random
	Func   func(ctx context.Context, in Sample) (Sample, error)
	// BatchFunc replaces Func in a transform of several samples, for computations with a
	// high cost per call. It returns the results of in, in that order, or with a
	// *[PartialError] the results of some of them. The result of a sample must depend on
	// that sample alone, because samples are identified and cached one by one. Which
	// samples form a batch is not deterministic: those requested together that are missing.
	// After any other error each sample is tried separately, so that the error belongs to a
	// sample. Such a transform draws no random numbers.
	BatchFunc func(ctx context.Context, in []Sample) (out []Sample, err error)
	// Batch is the largest number of samples passed to BatchFunc, up to [MaxBatch]; 0 means
	// one. It is not part of the identity.
	Batch int
	// Quick says that samples usually take so little time that passing them on matters.
	// BatchFunc then receives as many as are computed within some milliseconds, up to Batch,
	// and no sample waits for a batch to fill.
	Quick bool
	// FuncArgs lists the functions that Func or BatchFunc, a literal, calls and receives as
	// values. These are parameters of the function around the literal, listed here next to
	// it. They are identified in addition to Func, and in the same way. If that function
	// may receive other functions that are not known, the transform is refused.
	FuncArgs []any
}

// NewTransform returns the transform that f describes, or an error if its parameters cannot
// be keyed.
func NewTransform(f TransformFunc) (Transform, error) {
	if err := f.checkBatch(); err != nil {
		return nil, err
	}
	params := f.Params
	if f.Random != nil {
		if err := f.Random.Check(); err != nil {
			return nil, err
		}
		params = slices.Concat(params, f.Random.params())
	}
	if f.Names != nil {
		f.In, f.Out = nil, []string{}
	}
	m := &funcTransform{f: f, params: params, code: []any{f.Func}, funcArgs: f.FuncArgs}
	if f.BatchFunc != nil {
		m.code = []any{f.BatchFunc}
	}
	if _, err := key.NewOp(f.Name, key.Version("0"), params...); err != nil {
		return nil, err
	}
	return m, nil
}

// perItem reports whether m computes each item only from the item that it replaces.
func perItem(m Transform) bool {
	f, ok := m.(*funcTransform)
	return ok && f.f.PerItem && f.f.Random == nil
}

// names returns the items that a transform reads and computes for a sample.
func names(m Transform, s Sample) (reads, makes []string) {
	if m, ok := m.(*funcTransform); ok && m.f.Names != nil {
		return m.f.Names(s.Keys())
	}
	return m.Reads(), m.Makes()
}
