package larder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/source"
)

// A Component is what a component's code is identified by.
type Component struct {
	Functions []any // that it consists of, at least one
	// Given are functions that the others get as values and call, identified beside
	// them.
	Given    []any
	Declared source.Declared
}

// An Identity is what the code of a component is known by.
type Identity struct {
	Code key.Code
	// Closure is what the component's functions reach; nil if they are known by
	// the build.
	Closure *source.Closure
	// Function names them where the code does not tell which functions of a program
	// they are.
	Function string
	// Err says why no identity covers the code.
	Err error
}

// CodeOf identifies the code of a component by the functions that it consists of,
// as [Closure] does each of them. Where a package does not register its sources, or
// nothing stands in the way but code of the program that cannot be seen, the code is
// that of the build. A nil Larder keeps nothing of what is found out.
func CodeOf(ctx context.Context, l *Larder, c Component) (Identity, error) {
	all, err := CodesOf(ctx, l, c)
	if err != nil {
		return Identity{}, err
	}
	return all[0], all[0].Err
}

// CodesOf is [CodeOf] for several components. What it finds out it keeps as one.
// Where no code identity covers one of them, only that one has an Err.
func CodesOf(ctx context.Context, l *Larder, list ...Component) ([]Identity, error) {
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
	a, err := key.NewAction("component identity", key.Version("3"), build.ID, about, source.Surroundings())
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

// functions returns what the component consists of, and whether the sources of all
// of it are registered.
func (c Component) functions() (all []source.Function, registered bool, err error) {
	registered = true
	for i, f := range slices.Concat(c.Functions, c.Given) {
		fn, err := source.FunctionOf(f)
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

// namesOf tells functions of one program apart.
func namesOf(functions []source.Function) string {
	var names []string
	for _, f := range functions {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}

// A question is what a component is known by, which is at a place of a list.
type question struct {
	at        int
	functions []source.Function
	given     int // how many of them the others get as values
	by        source.Declared
}

// answer returns what is kept of questions, or finds it out.
func answer(ctx context.Context, l *Larder, a *key.Action, open []question) ([]identity, error) {
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
	r, err := Call[[]identity]{Action: a, Compute: compute, ofBuild: true}.Do(ctx, l)
	if !errors.Is(err, ErrDry) {
		return r.Value, err
	}
	if ids, ok := foundDry.Load(a.Key()); ok {
		return ids.([]identity), nil
	}
	ids, err := compute(ctx)
	if err == nil {
		foundDry.Store(a.Key(), ids)
	}
	return ids, err
}

// identify finds out what a component is known by. For explanations it may keep
// what its functions reach.
func (q question) identify(ctx context.Context, l *Larder, parts bool) identity {
	c, err := together(q.functions, q.given, q.by)
	refused, ok := errors.AsType[*source.RefusalError](err)
	switch {
	case ok && refused.Hidden:
		l.sayCoarse(ctx, "components", fmt.Sprintf("results of components are computed again with each build of this program: %v", err))
		return identity{Build: true}
	case err != nil:
		return identity{Error: err.Error()}
	case c.Kind == source.Program:
		name := q.functions[0].Name()
		what := name
		if !parts { // one of many, of which most are not used
			what = "components"
		}
		l.sayCoarse(ctx, what, fmt.Sprintf("%s is known by the whole program: it reaches %s", name, strings.Join(c.Doubts, "; and ")))
	}
	switch { // without its parts explanations say less
	case !parts || l == nil:
	case IsDry(ctx):
		foundDry.Store(c.ID, c.Parts)
	default:
		_, _ = Do(ctx, l, partsOf(c.ID), func(context.Context) ([]source.Part, error) { return c.Parts, nil })
	}
	return identity{ID: c.ID, Kind: c.Kind, Doubts: c.Doubts, Inputs: c.Inputs, Barred: c.Barred, Trusted: c.Trusted, Opens: c.Opens}
}

// sayCoarse says once why something is known by more than it reaches.
func (l *Larder) sayCoarse(ctx context.Context, what, text string) {
	if l == nil || IsDry(ctx) {
		return
	}
	if _, before := l.warned.LoadOrStore("coarse "+what, true); !before {
		l.log.Warn("larder: " + text)
	}
}

// of returns what is kept as what it stands for.
func (id identity) of(build key.Code, names string) Identity {
	switch {
	case id.Error != "":
		return Identity{Err: errors.New(id.Error)}
	case id.Build:
		return Identity{Code: build, Function: names}
	}
	for _, in := range id.Inputs {
		variables.Store(in.Name, in)
	}
	found := Identity{
		Code:    key.Code{Kind: string(id.Kind), ID: id.ID.String()},
		Closure: &source.Closure{ID: id.ID, Kind: id.Kind, Doubts: id.Doubts, Inputs: id.Inputs, Barred: id.Barred, Trusted: id.Trusted, Opens: id.Opens},
	}
	if id.Kind == source.Program {
		found.Function = names
	}
	return found
}

// together makes one closure of those of several functions, of which the last are
// given to the others.
func together(functions []source.Function, given int, by source.Declared) (*source.Closure, error) {
	all := &source.Closure{Kind: source.Precise, Barred: map[string]string{}}
	var ids []key.Digest
	for i, f := range functions {
		if given > 0 {
			if by.Given = given; i >= len(functions)-given {
				by.Given = 0 // what they get themselves is not among them
			}
		}
		c, err := source.Identify(f, by)
		if err != nil || len(functions) == 1 {
			return c, err
		}
		if c.Kind == source.Program {
			all.Kind = c.Kind
		}
		ids = append(ids, c.ID)
		all.Doubts = append(all.Doubts, c.Doubts...)
		all.Inputs = append(all.Inputs, c.Inputs...)
		all.Parts = append(all.Parts, c.Parts...)
		all.Trusted = append(all.Trusted, c.Trusted...)
		maps.Copy(all.Barred, c.Barred)
		all.Opens = all.Opens || c.Opens
	}
	slices.SortFunc(all.Inputs, func(a, b source.Input) int { return strings.Compare(a.Name, b.Name) })
	all.Inputs = slices.Compact(all.Inputs)
	slices.SortFunc(all.Parts, func(a, b source.Part) int { return strings.Compare(a.Name+a.Digest.String(), b.Name+b.Digest.String()) })
	all.Parts = slices.Compact(all.Parts)
	var err error
	all.ID, err = key.Of([]any{"source closures", ids})
	return all, err
}

// Check returns an error for a value that the component must not be given: see
// [source.Closure.Admits].
func (id Identity) Check(v any) error {
	if id.Closure == nil {
		return nil
	}
	return id.Closure.Admits(v)
}

// Steady notes the package variables that the component reads and that are declared
// as inputs, and returns an error if GODEBUG is not what it was. It is called before
// and after each computation.
func (id Identity) Steady(ctx context.Context) error {
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
	return source.Steady()
}
