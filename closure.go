package larder

import (
	"context"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/source"
)

// Closure returns the identity of a function's code by its source. What was
// found out by one build of a program is kept, so that the next run of it need
// not parse its sources. The parts are kept under the identity, for
// [ClosureParts].
func Closure(ctx context.Context, l *Larder, f source.Function, by source.Declared) (key.Digest, error) {
	build, err := key.Build()
	if err != nil {
		return key.Digest{}, err
	}
	a, err := key.NewAction("source identity", key.Version("1"), build.ID, f.Name(), f.File, f.Line, f.Types(), by.Pure, by.Captured, source.Surroundings())
	if err != nil {
		return key.Digest{}, err
	}
	return Do(ctx, l, a, func(ctx context.Context) (key.Digest, error) {
		c, err := source.Identify(f, by)
		if err != nil {
			return key.Digest{}, err
		}
		_, err = Do(ctx, l, partsOf(c.ID), func(context.Context) ([]source.Part, error) { return c.Parts, nil })
		return c.ID, err
	})
}

// partsOf is the action under which the parts of a closure are kept.
func partsOf(id key.Digest) *key.Action {
	a, err := key.NewAction("source closure", key.Version("1"), id)
	if err != nil {
		panic(err) // a digest can be keyed
	}
	return a
}

// ClosureParts returns the parts of a closure that [Closure] identified, or nil
// if they are no longer kept.
func ClosureParts(ctx context.Context, l *Larder, id key.Digest) []source.Part {
	parts, err := Do(Dry(ctx), l, partsOf(id), func(context.Context) ([]source.Part, error) { return nil, ErrDry })
	if err != nil {
		return nil
	}
	return parts
}
