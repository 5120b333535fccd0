package known

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/key"
)

// A Component lists the functions that identify a component's code.
type Component struct {
	Functions []any // at least one
	// Given are functions that the others receive as values and call. They are part of
	// the identity.
	Given    []any
	Declared analysis.Declared
}

// An Identity identifies the code of a component.
type Identity struct {
	Code key.Code
	// Closure is what the component's functions reach; nil if the build identifies
	// them.
	Closure *analysis.Closure
	// Function has their names if Code does not tell functions of a program apart.
	Function string
	// Err is the reason why no identity covers the code.
	Err error
}

// CodeOf identifies the code of a component by its functions, as [Closure] does each of
// them. The build identifies the code if a package does not register its sources, or if
// the only obstacle is code of the program that cannot be seen. A nil Larder caches no
// analysis.
func CodeOf(ctx context.Context, l *larder.Larder, c Component) (Identity, error) {
	all, err := CodesOf(ctx, l, c)
	if err != nil {
		return Identity{}, err
	}
	return all[0], all[0].Err
}

// CodesOf is [CodeOf] for several components. It caches the analyses as one result. If
// no code identity covers one of them, only that one has an Err.
func CodesOf(ctx context.Context, l *larder.Larder, list ...Component) ([]Identity, error) {
	build, err := key.Build()
	if err != nil {
		return nil, err
	}
	found := make([]Identity, len(list))
	var open []question
	var about []any
	for i, c := range list {
		functions, registered, err := c.functions()
		switch {
		case err != nil:
			found[i].Err = err
		case !registered:
			found[i] = Identity{Code: build, Function: namesOf(functions)}
		default:
			open = append(open, question{i, functions, len(c.Given), c.Declared})
			about = append(about, c.Declared, len(c.Given))
			for _, f := range functions {
				about = append(about, f.Name(), f.File, f.Line, f.Types())
			}
		}
	}
	if len(open) == 0 {
		return found, nil
	}
	a, err := key.NewAction("component identity", key.Version("3"), build.ID, about, analysis.Surroundings())
	if err != nil {
		return nil, err
	}
	answers, err := answer(ctx, l, a, open)
	if err != nil {
		return nil, err
	}
	for i, q := range open {
		found[q.at] = answers[i].of(build, namesOf(q.functions))
	}
	return found, nil
}

// functions returns the functions of the component, and whether all their sources are
// registered.
func (c Component) functions() (all []analysis.Function, registered bool, err error) {
	registered = true
	for i, f := range slices.Concat(c.Functions, c.Given) {
		fn, err := analysis.FunctionOf(f)
		if err == nil {
			err = fn.CheckLibrary(c.Declared.Pure)
		}
		if err == nil && fn.IsBound() && i >= len(c.Functions) {
			err = fn.CheckState()
		}
		if err != nil {
			return nil, false, err
		}
		registered = registered && fn.Registered()
		all = append(all, fn)
	}
	for _, fn := range all {
		if err := fn.CheckState(); err != nil && registered {
			return nil, false, err
		}
	}
	return all, registered, nil
}

func namesOf(functions []analysis.Function) string {
	var names []string
	for _, f := range functions {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}

// A question is a component to identify and its position in a list.
type question struct {
	at        int
	functions []analysis.Function
	given     int // how many of the last functions are Given
	by        analysis.Declared
}

// answer returns the cached answers to questions, or computes them.
func answer(ctx context.Context, l *larder.Larder, a *key.Action, open []question) ([]identity, error) {
	compute := func(ctx context.Context) ([]identity, error) {
		ids := make([]identity, len(open))
		for i, q := range open {
			ids[i] = q.identify(ctx, l, len(open) == 1)
		}
		return ids, nil
	}
	if l == nil {
		return compute(ctx)
	}
	r, err := larder.Call[[]identity]{Action: a, Compute: compute, SkipVerify: true}.Do(ctx, l)
	if !errors.Is(err, larder.ErrNotCached) {
		return r.Value, err
	}
	if ids, ok := unstored.Load(a.Key()); ok {
		return ids.([]identity), nil
	}
	ids, err := compute(ctx)
	if err == nil {
		unstored.Store(a.Key(), ids)
	}
	return ids, err
}

// identify identifies a component. With parts it also stores, for explanations, what
// the functions reach.
func (q question) identify(ctx context.Context, l *larder.Larder, parts bool) identity {
	c, err := together(q.functions, q.given, q.by)
	refused, ok := errors.AsType[*analysis.RefusalError](err)
	switch {
	case ok && refused.Hidden:
		warnCoarse(ctx, l, "components", fmt.Sprintf("results of components are computed again with each build of this program: %v", err))
		return identity{Build: true}
	case err != nil:
		return identity{Error: err.Error()}
	case c.Kind == analysis.Program:
		name := q.functions[0].Name()
		what := name
		if !parts { // one of many, most of which are not used
			what = "components"
		}
		warnCoarse(ctx, l, what, fmt.Sprintf("%s is identified by the whole program: it reaches %s", name, strings.Join(c.Doubts, "; and ")))
	}
	switch { // the parts serve explanations only
	case !parts || l == nil:
	case larder.IsCachedOnly(ctx):
		unstored.Store(c.ID, c.Parts)
	default:
		_, _ = larder.Do(ctx, l, partsOf(c.ID), func(context.Context) ([]analysis.Part, error) { return c.Parts, nil })
	}
	return identity{ID: c.ID, Kind: c.Kind, Doubts: c.Doubts, Inputs: c.Inputs, Barred: c.ForbiddenTypes, Trusted: c.Trusted, Opens: c.Opens}
}

// coarse is what [warnCoarse] warns about.
type coarse string

// warnCoarse logs once for each Larder why an identity covers more than the code reaches.
func warnCoarse(ctx context.Context, l *larder.Larder, what, text string) {
	if l != nil && !larder.IsCachedOnly(ctx) {
		l.WarnOnce(coarse(what), "larder: "+text)
	}
}

// of converts a cached identity.
func (id identity) of(build key.Code, names string) Identity {
	switch {
	case id.Error != "":
		return Identity{Err: errors.New(id.Error)}
	case id.Build:
		return Identity{Code: build, Function: names}
	}
	for _, in := range id.Inputs {
		in.Remember()
	}
	found := Identity{
		Code:    key.Code{Kind: string(id.Kind), ID: id.ID.String()},
		Closure: &analysis.Closure{ID: id.ID, Kind: id.Kind, Doubts: id.Doubts, Inputs: id.Inputs, ForbiddenTypes: id.Barred, Trusted: id.Trusted, Opens: id.Opens},
	}
	if id.Kind == analysis.Program {
		found.Function = names
	}
	return found
}

// together combines the closures of several functions. The last given ones are values
// for the others.
func together(functions []analysis.Function, given int, by analysis.Declared) (*analysis.Closure, error) {
	all := &analysis.Closure{Kind: analysis.Precise, ForbiddenTypes: map[string]string{}}
	var ids []key.Digest
	for i, f := range functions {
		if given > 0 {
			if by.Given = given; i >= len(functions)-given {
				by.Given = 0 // they do not receive themselves
			}
		}
		c, err := analysis.Identify(f, by)
		if err != nil || len(functions) == 1 {
			return c, err
		}
		if c.Kind == analysis.Program {
			all.Kind = c.Kind
		}
		ids = append(ids, c.ID)
		all.Doubts = append(all.Doubts, c.Doubts...)
		all.Inputs = append(all.Inputs, c.Inputs...)
		all.Parts = append(all.Parts, c.Parts...)
		all.Trusted = append(all.Trusted, c.Trusted...)
		maps.Copy(all.ForbiddenTypes, c.ForbiddenTypes)
		all.Opens = all.Opens || c.Opens
	}
	slices.SortFunc(all.Inputs, func(a, b analysis.Input) int { return strings.Compare(a.Name, b.Name) })
	all.Inputs = slices.Compact(all.Inputs)
	slices.SortFunc(all.Parts, func(a, b analysis.Part) int {
		return strings.Compare(a.Name+a.Digest.String(), b.Name+b.Digest.String())
	})
	all.Parts = slices.Compact(all.Parts)
	var err error
	all.ID, err = key.Of([]any{"source closures", ids})
	return all, err
}

// Check returns an error if the component must not receive v: see
// [analysis.Closure.CheckValue].
func (id Identity) Check(v any) error {
	if id.Closure == nil {
		return nil
	}
	return id.Closure.CheckValue(v)
}

// CheckUnchanged records a dependency on each package variable that the component reads and
// that is declared as an input. It returns an error if GODEBUG changed. It is called
// before and after each computation.
func (id Identity) CheckUnchanged(ctx context.Context) error {
	if id.Closure == nil {
		return nil
	}
	for _, in := range id.Closure.Inputs {
		if err := UseVariable(ctx, in); err != nil {
			return err
		}
		if err := id.Closure.AdmitsInput(in); err != nil {
			return err
		}
	}
	return analysis.CheckUnchanged()
}
