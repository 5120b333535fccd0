// Package known identifies the code of functions and components, and caches the analyses in
// a Larder.
package known

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/key"
)

// identity is the cached part of a closure, without its parts.
type identity struct {
	ID      key.Digest
	Kind    analysis.Kind
	Doubts  []string
	Inputs  []analysis.Input
	Barred  map[string]string
	Trusted []string
	Opens   bool
	// Refused is the reason for a refusal, if any. Refusals are cached, too.
	Refused *analysis.RefusalError
	// Build and Error are set for components only: whether the build identifies it, and
	// any error.
	Build bool
	Error string
}

// Closure identifies a function's code by its source, as [analysis.Identify] does. It
// caches the analysis for the build of the program, so the next run need not parse
// sources. The parts are left out; they are stored under the identity, for
// [ClosureParts]. If the function is identified by the whole program, Closure logs this
// once per build.
func Closure(ctx context.Context, l *larder.Larder, f analysis.Function, by analysis.Declared) (*analysis.Closure, error) {
	build, err := key.Build()
	if err != nil {
		return nil, err
	}
	a, err := key.NewAction("source identity", key.Version("3"), build.ID, f.Name(), f.File, f.Line, f.Types(), by.Pure, by.Captured, analysis.Surroundings())
	if err != nil {
		return nil, err
	}
	r, err := larder.Call[identity]{Action: a, SkipVerify: true, Compute: func(ctx context.Context) (identity, error) {
		c, err := analysis.Identify(f, by)
		if refusal, ok := errors.AsType[*analysis.RefusalError](err); ok {
			return identity{Refused: refusal}, nil
		}
		if err != nil {
			return identity{}, err
		}
		if c.Kind == analysis.Program {
			l.Logger().Warn(fmt.Sprintf("larder: %s is identified by the whole program: it reaches %s", f.Name(), strings.Join(c.Doubts, "; and ")))
		}
		return identity{ID: c.ID, Kind: c.Kind, Doubts: c.Doubts, Inputs: c.Inputs, Barred: c.ForbiddenTypes, Trusted: c.Trusted, Opens: c.Opens}, KeepClosure(ctx, l, c)
	}}.Do(ctx, l)
	id := r.Value
	switch {
	case err != nil:
		return nil, err
	case id.Refused != nil:
		return nil, id.Refused
	}
	for _, in := range id.Inputs {
		in.Remember()
	}
	return &analysis.Closure{ID: id.ID, Kind: id.Kind, Doubts: id.Doubts, Inputs: id.Inputs, ForbiddenTypes: id.Barred, Trusted: id.Trusted, Opens: id.Opens}, nil
}

// CheckCaptured returns an error if a function literal captures a variable that is not
// in declared. It needs registered sources.
func CheckCaptured(ctx context.Context, l *larder.Larder, f analysis.Function, declared []string) error {
	if err := f.CheckState(); f.IsBound() {
		return err
	}
	build, err := key.Build()
	if err != nil {
		return err
	}
	a, err := key.NewAction("captured variables", key.Version("1"), build.ID, f.Name(), f.File, f.Line, f.Types(), analysis.Surroundings())
	if err != nil {
		return err
	}
	r, err := larder.Call[[]string]{Action: a, SkipVerify: true, Compute: func(context.Context) ([]string, error) { return analysis.Captures(f) }}.Do(ctx, l)
	names := r.Value
	if errors.Is(err, larder.ErrNotCached) {
		names, err = analysis.Captures(f)
	}
	switch {
	case errors.Is(err, analysis.ErrNotRegistered):
		return fmt.Errorf("%s (%s:%d): captured variables are visible only in sources; register the sources of its package, or pass the values as arguments", f.Name(), f.File, f.Line)
	case err != nil:
		return err
	}
	for _, name := range names {
		if !slices.Contains(declared, name) {
			return fmt.Errorf("%s (%s:%d) captures %s, which no key covers: pass it as an argument, or declare its value as Captured", f.Name(), f.File, f.Line, name)
		}
	}
	return nil
}

// MethodsOf identifies the code of the methods by which values encode themselves in
// keys (see [key.Methods]). It is for keys of code that is identified by its source. It
// returns "" if there are none.
func MethodsOf(ctx context.Context, l *larder.Larder, values ...any) (string, error) {
	var ids []string
	for _, v := range values {
		methods, err := key.Methods(v)
		if err != nil {
			return "", err
		}
		for _, m := range methods {
			id, err := methodOf(ctx, l, m)
			if err != nil {
				return "", err
			}
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " "), nil
}

func methodOf(ctx context.Context, l *larder.Larder, method any) (string, error) {
	f, err := analysis.FunctionOf(method)
	switch {
	case err != nil:
		return "", err
	case f.OfLibrary():
		return f.Name() + " " + runtime.Version(), nil
	case !f.Registered():
		build, err := key.Build()
		return f.Name() + " " + build.ID, err
	}
	c, err := Closure(ctx, l, f, analysis.Declared{})
	if err != nil {
		return "", fmt.Errorf("%s computes the key of a value: %w", f.Name(), err)
	}
	return c.ID.String(), nil
}

// UseVariable records that the computation depends on the present value of a package
// variable that its package declares as an input.
func UseVariable(ctx context.Context, in analysis.Input) error {
	d, err := in.Digest()
	if err == nil {
		larder.AddDependencies(ctx, larder.Read{Kind: larder.VariableRead, Name: in.Name, Digest: d})
	}
	return err
}

// partsOf returns the action that identifies the stored parts of a closure.
func partsOf(id key.Digest) *key.Action {
	a, err := key.NewAction("source closure", key.Version("2"), id)
	if err != nil {
		panic(err) // a digest can be keyed
	}
	return a
}

// KeepClosure stores the parts of a closure, for [ClosureParts].
func KeepClosure(ctx context.Context, l *larder.Larder, c *analysis.Closure) error {
	_, err := larder.Do(ctx, l, partsOf(c.ID), func(context.Context) ([]analysis.Part, error) { return c.Parts, nil })
	return err
}

// unstored holds results under [larder.CachedOnly], which stores none: parts of closures by
// their identity, and identities of components by the key of their question.
var unstored sync.Map // key.Digest -> []analysis.Part, key.Key -> []identity

// ClosureParts returns the parts of a closure that [Closure] identified, or nil if they
// are no longer stored.
func ClosureParts(ctx context.Context, l *larder.Larder, id key.Digest) []analysis.Part {
	if parts, ok := unstored.Load(id); ok {
		return parts.([]analysis.Part)
	}
	parts, err := larder.Do(larder.CachedOnly(ctx), l, partsOf(id), func(context.Context) ([]analysis.Part, error) { return nil, larder.ErrNotCached })
	if err != nil {
		return nil
	}
	return parts
}
