package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/source"
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
	// Name says what is done, for people; with Op it is the identity.
	Name() string
	// Op identifies the computation: its name, code and parameters. To find that
	// out may take long, and l, which may be nil, keeps what was found out.
	Op(ctx context.Context, l *larder.Larder) (*key.Op, error)
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
	Name string // what is done, with Params and Code the identity
	// Detail tells it from others of its name in listings, as a command does; it is no part
	// of the identity.
	Detail string
	// Code is the version of the code, if its author gives one. The zero value
	// stands for the code itself: Func is known by its source, if its package
	// registers that, and otherwise by the build. A literal that captures variables
	// is known by the function that makes it; what that is given must be in Params. It
	// is refused if it may write to what it captures, or if others may once it is made.
	Code key.Code
	// Pure lists what the code may reach although it is impure or unknown: see
	// [source.Options].
	Pure   []string
	Params []key.Param // whatever else the result depends on
	In     []string    // items read; nil means all
	Out    []string    // items made; nil means that only running it tells
	// Formats lists the extensions under which items are made, and those of bytes
	// that are decoded beside the items in In: the code of their codecs is part of
	// the identity. Nil means any. Passing on an item, or changing it inside, is not
	// making it under an extension.
	Formats []string
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
	// Together takes the place of Func in a maker that is run on several samples at
	// once, because to start takes longer than to make one more: it returns what it
	// made of each of in, in that order, or with a *[PartialError] of some of them.
	// What it makes of a sample must depend on that alone, as samples are named and
	// kept one by one, and which are in a batch is up to chance: those that were asked
	// for together and are missing. After any other error each is made by itself, so
	// that the error is that of a sample. Such a maker draws no random numbers.
	Together func(ctx context.Context, in []Sample) (out []Sample, err error)
	// Batch is how many samples Together is given at most, up to [MaxBatch]; 0 means
	// one. It is no part of the identity.
	Batch int
	// Quick says that samples as a rule take so little that what it takes to hand one on
	// counts: then Together is given what can be made within some milliseconds, up to
	// Batch, and no sample waits for others to be with.
	Quick bool
	// Given are the functions that Func or Together, a literal, gets as values and calls: parameters
	// of the function around it, named here beside the literal. They are known beside
	// Func, and as Func is. Where that function may be given others, of which nobody
	// knows which they are, the maker is refused.
	Given []any
}

// NewMaker returns the maker that f describes, or an error if its parameters
// cannot be keyed.
func NewMaker(f MakerFunc) (Maker, error) {
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
	m := &maker{f: f, params: params, code: []any{f.Func}, given: f.Given}
	if f.Together != nil {
		m.code = []any{f.Together}
	}
	if _, err := key.NewOp(f.Name, key.Version("0"), params...); err != nil {
		return nil, err
	}
	return m, nil
}

type maker struct {
	f      MakerFunc
	params []key.Param
	code   []any // the functions that say what is done
	given  []any // those that they get as values

	mu       sync.Mutex
	op       *key.Op
	identity larder.Identity
}

func (m *maker) Name() string { return m.f.Name }

// Op finds out once what the maker is known by.
func (m *maker) Op(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.op == nil {
		op, err := m.identify(ctx, l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.f.Name, err)
		}
		m.op = op
	}
	if m.identity.Closure == nil {
		return m.op, nil
	}
	return m.op, source.Steady()
}

func (m *maker) identify(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	id := larder.Identity{Code: m.f.Code}
	if id.Code.IsZero() {
		var err error
		if id, err = larder.CodeOf(ctx, l, larder.Component{Functions: m.code, Given: m.given, Declared: source.Declared{
			Pure: m.f.Pure, Maker: true, Through: []string{"github.com/larder-data/larder/dataset"},
		}}); err != nil {
			return nil, err
		}
		for _, p := range m.params {
			if err := id.Check(p.Value); err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
		}
	}
	params := slices.Clip(m.params)
	if m.f.Code.IsZero() {
		for _, p := range m.params {
			methods, err := larder.MethodsOf(ctx, l, p.Value)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
			if methods != "" {
				params = append(params, key.Param{Name: "methods of " + p.Name, Value: methods})
			}
		}
	}
	if m.f.Formats == nil || len(m.f.Formats) > 0 {
		encoders, err := encoders(ctx, l, m.f.Formats)
		if err != nil {
			return nil, err
		}
		params = append(params, encoders)
	}
	if id.Function != "" {
		params = append(params, key.Param{Name: "function", Value: id.Function})
	}
	m.identity = id
	op, err := key.NewOp(m.f.Name, id.Code, params...)
	if err != nil {
		return nil, err
	}
	return op.Detailed(m.f.Detail), nil
}

// known returns what the maker is known by, as far as anybody asked.
func (m *maker) known() larder.Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.identity
}

func (m *maker) Reads() []string { return m.f.In }
func (m *maker) Makes() []string { return m.f.Out }
func (m *maker) Random() *Random { return m.f.Random }

func (m *maker) Map(ctx context.Context, in Sample) (Sample, error) {
	if m.f.Together != nil {
		return m.mapAlone(ctx, in)
	}
	id := m.known()
	if err := id.Steady(ctx); err != nil {
		return Sample{}, err
	}
	given := in.inOrder()
	out, err := m.f.Func(ctx, given)
	out = out.passing(given, in)
	return out, cmp.Or(err, id.Steady(ctx)) // to see that nothing has changed
}

// mapAlone makes a batch of one sample.
func (m *maker) mapAlone(ctx context.Context, in Sample) (Sample, error) {
	outs, err := m.mapTogether(ctx, []Sample{in})
	failed, whole := partOf(err, 1)
	if err := cmp.Or(whole, failed[0]); err != nil {
		return Sample{}, err
	}
	return outs[0], nil
}

// mapTogether makes a batch: of each sample, or with a [PartialError] of some.
func (m *maker) mapTogether(ctx context.Context, ins []Sample) ([]Sample, error) {
	id := m.known()
	if err := id.Steady(ctx); err != nil {
		return nil, err
	}
	given := make([]Sample, len(ins))
	for i, in := range ins {
		given[i] = in.inOrder()
	}
	outs, err := m.f.Together(ctx, slices.Clone(given))
	if _, whole := partOf(err, len(ins)); whole != nil {
		return nil, whole
	}
	if len(outs) != len(ins) {
		return nil, fmt.Errorf("%s was given %d samples and returned %d", m.f.Name, len(ins), len(outs))
	}
	all := make([]Sample, len(ins))
	for i, out := range outs {
		all[i] = out.passing(given[i], ins[i])
	}
	return all, cmp.Or(id.Steady(ctx), err)
}

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
